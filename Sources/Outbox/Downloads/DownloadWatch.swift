// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import SessionManager
import Synchronization

/// Follows the task of a download: which URLs fail, and whether there is room for what is announced.
///
/// Called on the transfer's own thread.
final class DownloadWatch: Sendable {
    /// What the last request of this attempt was for.
    private enum Asked {
        /// None was sent: the part of an earlier attempt looked whole.
        case nothing
        case rest
        case whole
    }

    private struct State {
        var strikes: MirrorStrikes
        var total: Int64?
        /// Why there is no room.
        var shortfall: String?
        var asked = Asked.nothing
    }

    private let state: Mutex<State>
    private let folder: TargetFolder
    private let part: String
    private let judge: @Sendable (SessionError, SessionResponse?) -> DeliveryVerdict

    init(
        _ strikes: MirrorStrikes, _ folder: TargetFolder, _ part: String,
        judge: @escaping @Sendable (SessionError, SessionResponse?) -> DeliveryVerdict
    ) {
        state = Mutex(State(strikes: strikes))
        (self.folder, self.part, self.judge) = (folder, part, judge)
    }

    /// Why there is no room; nil if there is.
    var shortfall: String? { state.withLock { $0.shortfall } }
    /// The size of the whole; nil if no server has said it.
    var total: Int64? { state.withLock { $0.total } }
    var strikes: MirrorStrikes { state.withLock { $0.strikes } }

    /// The attempt has ended so.
    func ended(_ error: SessionError, _ response: SessionResponse?, isOnly: Bool) {
        let verdict = judge(error, response)
        state.withLock { state in
            // Perhaps the part was spoiled or of an older version: the next attempt begins anew.
            let isJoined = error.code == .checksumMismatch && isOnly && state.asked != .whole
            state.strikes.failed(verdict, isJoined: isJoined)
        }
    }

    var monitor: EventMonitor {
        EventMonitor(queue: .custom { $0() }) { [self] task, step in
            switch step {
            case .sent(let request):
                state.withLock { state in
                    state.strikes.asked(request.url)
                    state.asked = request.headerFields[.range] == nil ? .whole : .rest
                }
            case .mirror(let url, let error):
                let verdict = judge(error, error.response)
                state.withLock { state in
                    state.strikes.failed(verdict, next: url, isJoined: state.asked == .nothing)
                }
            case .received(let response): if !hasRoom(response) { task.cancel() }
            default: break
            }
        }
    }

    /// Compares the announced content with the file system before it is written.
    private func hasRoom(_ response: SessionResponse) -> Bool {
        guard let status = response.statusCode, status == 200 || status == 206,
            let length = response.contentLength
        else { return true }
        let present = folder.size(part) ?? 0
        // A server may announce anything: a sum that overflows is negative.
        let total = status == 206 ? max(length, 0) &+ present : length
        // A content from the start takes the place of what has come before.
        let missing = status == 206 ? length : max(length - present, 0)
        let shortfall = folder.room?.shortfall(of: missing)
        state.withLock { state in
            state.total = total >= 0 ? total : nil
            state.shortfall = shortfall
        }
        return shortfall == nil
    }
}
