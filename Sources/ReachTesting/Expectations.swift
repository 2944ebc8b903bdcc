// SPDX-License-Identifier: Apache-2.0

import SessionCore
public import SessionManager
import Synchronization

/// What a test has waited for in vain.
public struct ExpectationFailure: Error, CustomStringConvertible {
    /// What was expected, and what came instead.
    public let description: String

    init(_ description: String) { self.description = description }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// Waits for the first element that fits, and passes over those before it.
    ///
    ///     let events = manager.events            // from before it happens
    ///     network.become(.unreachable)
    ///     let held = try await events.first(within: .seconds(10), "a hold") {
    ///         if case .held = $0 { true } else { false }
    ///     }
    ///
    /// Streams such as `manager.events` and `outbox.events` keep what comes before they are read, from the
    /// moment when they are asked for.
    ///
    /// - Parameters:
    ///   - limit: after which the wait fails, in real time; long, since it passes only where the test fails.
    ///   - expectation: what is waited for, for the message.
    /// - Throws: ``ExpectationFailure`` with what came instead; `CancellationError`.
    public func first(
        within limit: Duration, _ expectation: String = "what is expected",
        where fits: @escaping @Sendable (Element) -> Bool
    ) async throws -> Element {
        let seen = PassedElements<Element>()
        let found = try await withThrowingTaskGroup(of: Element?.self) { group in
            group.addTask {
                for try await element in self {
                    if fits(element) { return element }
                    seen.append(element)
                }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                seen.isLate.store(!Task.isCancelled, ordering: .relaxed)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        if let found { return found }
        try Task.checkCancellation()
        let end =
            seen.isLate.load(ordering: .relaxed) ? "did not come within \(limit)" : "did not come to the end"
        throw ExpectationFailure("\(expectation) \(end); \(seen.description)")
    }
}

/// What came before the element that was waited for.
private final class PassedElements<Element: Sendable>: Sendable {
    /// The most that a message names.
    private static var most: Int { 20 }

    private let state = Mutex((last: [Element](), count: 0))
    let isLate = Atomic<Bool>(false)

    func append(_ element: Element) {
        state.withLock { state in
            state.count += 1
            state.last.append(element)
            if state.last.count > Self.most { state.last.removeFirst() }
        }
    }

    var description: String {
        let (last, count) = state.withLock { ($0.last, $0.count) }
        guard count > 0 else { return "nothing came" }
        let words = last.map { ($0 as? SessionEvent)?.words ?? "\($0)" }.joined(separator: ", ")
        return "\(count) came instead\(count > last.count ? ", the last" : ""): \(words)"
    }
}

/// A step of a task, as an ``SessionManager/EventMonitor`` gets it.
public struct RecordedStep: Sendable, CustomStringConvertible {
    /// The task.
    public let task: SessionTask
    /// What has happened to it.
    public let step: TaskStep

    /// The task's number and the step.
    public var description: String { "\(task.identifier) \(step)" }
}

/// The reader of recorded steps, until its stream is released: steps that were not read have their tasks, and
/// these have their monitors, which have this.
private final class StepReader: Sendable {
    private let continuation: Mutex<AsyncStream<RecordedStep>.Continuation?>

    init(_ continuation: AsyncStream<RecordedStep>.Continuation) { self.continuation = Mutex(continuation) }

    func report(_ task: SessionTask, _ step: TaskStep) {
        _ = continuation.withLock { $0 }?.yield(RecordedStep(task: task, step: step))
    }

    // Released after the lock: the tasks go with it.
    func end() { _ = continuation.withLock { $0.take() } }
}

extension URLSessionManager {
    /// Every step of the tasks that are made from now on, in order; for
    /// ``Swift/AsyncSequence/first(within:_:where:)``.
    ///
    /// - Parameter hearsOfBytes: whether parts of bodies and contents are steps too.
    public func recordSteps(hearsOfBytes: Bool = false) -> AsyncStream<RecordedStep> {
        let (stream, continuation) = AsyncStream<RecordedStep>.makeStream()
        let reader = StepReader(continuation)
        continuation.onTermination = { _ in reader.end() }
        eventMonitors.append(EventMonitor(hearsOfBytes: hearsOfBytes) { reader.report($0, $1) })
        return stream
    }
}

extension SessionEvent {
    /// A few words for the message of a wait that was in vain: tasks by their numbers, errors by their codes.
    fileprivate var words: String {
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
