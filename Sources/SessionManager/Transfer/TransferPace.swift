// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore

/// Holds a transfer to its own limits of speed and to those of its session; on the loop's thread.
///
/// libcurl's own limit (CURLOPT_MAX_RECV_SPEED_LARGE, 7.88) lets megabytes pass at once where they come fast.
final class TransferPace {
    private var own: SpeedLimits
    private let session: SessionPace?
    private let turn: EngineTurn
    /// The most bytes that are sent at a time.
    let piece: Int

    /// nil where nothing limits it.
    ///
    /// - Parameters:
    ///   - content: bytes a second of the content.
    ///   - body: bytes a second of the body; nil for the same.
    static func make(
        content: Int64?, body: Int64?, _ session: SessionPace?, turn: EngineTurn
    ) -> TransferPace? {
        guard content != nil || body != nil || session != nil else { return nil }
        return TransferPace(SpeedLimits(content: content, body: body ?? content), session, turn)
    }

    private init(_ own: SpeedLimits, _ session: SessionPace?, _ turn: EngineTurn) {
        self.own = own
        self.session = session
        self.turn = turn
        piece = min(own.body?.piece ?? .max, session?.limits.body?.piece ?? .max)
    }

    /// A part of a second's bytes, so that they flow and do not come in gushes.
    static func piece(_ bytesPerSecond: Int64) -> Int {
        Int(max(64, min(bytesPerSecond / 8, 256 << 10)))
    }

    /// Whether content has to wait; the transfer is resumed then.
    func holdsContent(_ transfer: Transfer) -> Bool { holds(transfer, .content) }
    /// Whether the body has to wait; the transfer is resumed then.
    func holdsBody(_ transfer: Transfer) -> Bool { holds(transfer, .body) }
    func received(_ count: Int) { passed(count, .content) }
    func sent(_ count: Int) { passed(count, .body) }

    private func holds(_ transfer: Transfer, _ direction: SpeedLimits.Direction) -> Bool {
        let opening = max(own[direction]?.opening ?? 0, session?.limits[direction]?.opening ?? 0)
        guard opening > Reactor.now else { return false }
        // The one whose bytes have passed last comes behind the others that wait.
        let isLast = session?.last == ObjectIdentifier(self)
        turn.resume(transfer, at: isLast ? opening &+ SessionPace.turn : opening)
        return true
    }

    private func passed(_ count: Int, _ direction: SpeedLimits.Direction) {
        let now = Reactor.now
        own[direction]?.passed(count, at: now)
        session?.limits[direction]?.passed(count, at: now)
        session?.last = ObjectIdentifier(self)
    }
}

/// What the transfers of a session may send and receive together; on the loop's thread.
package final class SessionPace {
    fileprivate var limits: SpeedLimits
    /// Whose bytes have passed last.
    fileprivate var last: ObjectIdentifier?
    /// 1 ms.
    fileprivate static let turn: Int64 = 1_000_000

    /// nil where nothing limits them.
    package init?(_ configuration: SessionConfiguration) {
        let (content, body) = (
            configuration.maximumDownloadBytesPerSecond, configuration.maximumUploadBytesPerSecond
        )
        guard content != nil || body != nil else { return nil }
        limits = SpeedLimits(content: content, body: body)
    }
}

/// Both directions; nil for no limit.
private struct SpeedLimits {
    enum Direction { case content, body }

    private var content: SpeedLimit?
    private(set) var body: SpeedLimit?

    subscript(direction: Direction) -> SpeedLimit? {
        get { direction == .content ? content : body }
        set { if direction == .content { content = newValue } else { body = newValue } }
    }

    init(content: Int64?, body: Int64?) {
        self.content = content.map { SpeedLimit(bytesPerSecond: $0) }
        self.body = body.map { SpeedLimit(bytesPerSecond: $0) }
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

    /// The most bytes that pass at a time.
    var piece: Int { TransferPace.piece(Int64(bytesPerSecond)) }

    mutating func passed(_ count: Int, at now: Int64) {
        opening = max(opening, now &- Self.arrears) &+ Int64(Double(count) / bytesPerSecond * 1e9)
    }
}
