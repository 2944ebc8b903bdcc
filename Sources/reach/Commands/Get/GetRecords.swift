// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionManager
import Synchronization

/// Knows which download is whose: has its record written before the content comes, and tells of mirrors.
final class GetRecords: SessionDelegate {
    private let owners = Mutex<[Int: (files: GetFiles?, meter: GetMeter)]>([:])

    /// A task downloads these files; nil where it downloads to a temporary one.
    func follow(_ task: SessionTask, _ files: GetFiles?, _ meter: GetMeter) {
        owners.withLock { $0[task.identifier] = (files, meter) }
    }

    func task(_ task: SessionTask, didReceive response: SessionResponse) async -> ResponseDisposition {
        owners.withLock { $0[task.identifier]?.files }?.begin(task.originalRequest, response)
        return .allow
    }

    /// Tells a task's meter which mirror is asked, and why; on the transfer's own thread.
    var monitor: EventMonitor {
        EventMonitor(queue: .custom { $0() }) { [self] task, step in
            guard case .mirror(let url, let error) = step else { return }
            let cause = GetRetries.cause(error, error.response?.statusCode)
            owners.withLock { $0[task.identifier]?.meter }?.recordMirror(
                "\(cause); \(url.host() ?? "") is asked")
        }
    }
}
