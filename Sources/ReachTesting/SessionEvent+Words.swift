// SPDX-License-Identifier: Apache-2.0

import SessionCore
import SessionManager

extension SessionEvent {
    /// A few words for the message of a wait that was in vain: tasks by their numbers, errors by their codes.
    var words: String {
        switch self {
        case .resumed(let task): "\(task.identifier) resumed"
        case .suspended(let task): "\(task.identifier) suspended"
        case .held(let task, let reason): "\(task.identifier) held: \(reason)"
        case .released(let task): "\(task.identifier) released"
        case .queueChanged(let counts): "\(counts)"
        case .completed(let task, let completion):
            "\(task.identifier) completed: " + (completion.error.map { "\($0)" } ?? Self.status(completion))
        case .downloadMoved(let task, let path): "\(task.identifier) moved to \(path)"
        case .downloadMoveFailed(let task, let error): "\(task.identifier) not moved: \(error)"
        case .invalidated: "a session invalidated"
        }
    }

    private static func status(_ completion: TaskCompletion) -> String {
        completion.outcome.response?.statusCode.map { "\($0)" } ?? "no status"
    }
}
