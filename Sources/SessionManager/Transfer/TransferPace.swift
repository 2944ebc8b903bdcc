// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore

/// Holds a transfer to a number of bytes a second, in both directions; on the loop's thread.
///
/// libcurl's own limit (CURLOPT_MAX_RECV_SPEED_LARGE, 7.88) lets megabytes pass at once where they come fast.
final class TransferPace {
    private var content: SpeedLimit
    private var body: SpeedLimit
    private let turn: EngineTurn
    /// The most bytes that are sent at a time.
    let piece: Int

    init(bytesPerSecond: Int64, turn: EngineTurn) {
        content = SpeedLimit(bytesPerSecond: bytesPerSecond)
        body = SpeedLimit(bytesPerSecond: bytesPerSecond)
        piece = Self.piece(bytesPerSecond)
        self.turn = turn
    }

    /// A part of a second's bytes, so that they flow and do not come in gushes.
    static func piece(_ bytesPerSecond: Int64) -> Int {
        Int(max(1 << 10, min(bytesPerSecond / 8, 256 << 10)))
    }

    /// Whether content has to wait; the transfer is resumed then.
    func holdsContent(_ transfer: Transfer) -> Bool { holds(transfer, until: content.opening) }
    /// Whether the body has to wait; the transfer is resumed then.
    func holdsBody(_ transfer: Transfer) -> Bool { holds(transfer, until: body.opening) }
    func received(_ count: Int) { content.passed(count, at: Reactor.now) }
    func sent(_ count: Int) { body.passed(count, at: Reactor.now) }

    private func holds(_ transfer: Transfer, until opening: Int64) -> Bool {
        guard opening > Reactor.now else { return false }
        turn.resume(transfer, at: opening)
        return true
    }
}

/// How many bytes may pass; instants are nanoseconds.
struct SpeedLimit {
    private let bytesPerSecond: Double
    /// When the next bytes may pass.
    private(set) var opening: Int64 = 0
    /// What a late timer has cost is made up for, up to so much.
    private static let arrears: Int64 = 100_000_000

    init(bytesPerSecond: Int64) { self.bytesPerSecond = Double(max(1, bytesPerSecond)) }

    mutating func passed(_ count: Int, at now: Int64) {
        opening = max(opening, now &- Self.arrears) &+ Int64(Double(count) / bytesPerSecond * 1e9)
    }
}
