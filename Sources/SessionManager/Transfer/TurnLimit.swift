// SPDX-License-Identifier: Apache-2.0

import EventLoop

/// How long libcurl may take in content before the loop has its turn; on the loop's thread.
///
/// libcurl (7.87 and later, `readwrite_data`) reads on for as long as the socket has more, within one call. Where the disk is slower than
/// the network it would never come back, and no limit of time, no cancellation and no event of the network be heeded.
struct TurnLimit {
    /// Long enough for what comes in memory's speed, short enough for nobody to notice.
    private static let nanoseconds: Int64 = 50_000_000
    /// The clock is read once for so many bytes.
    private static let stride = 256 << 10
    /// Bytes since it was read.
    private var count = 0

    /// Whether the content that comes now has to wait for the next turn.
    ///
    /// - Parameter start: when libcurl was called.
    mutating func isOver(before bytes: Int, since start: Int64) -> Bool {
        count += bytes
        guard count >= Self.stride else { return false }
        count = 0
        return Reactor.now &- start > Self.nanoseconds
    }
}

extension TransferEngine {
    /// Lets the content go on when the loop has looked at everything else.
    func resumeInNextTurn(_ transfer: Transfer) {
        _ = reactor.schedule(at: clock.now) { [weak transfer, weak self] in
            if let self, let transfer, transfer.easy != nil { resume(transfer) }
        }
    }
}
