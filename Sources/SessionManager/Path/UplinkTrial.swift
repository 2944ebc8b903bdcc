// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import ReachabilityCore
import SessionCore

/// A connection to a server over an interface, with the TLS handshake where the server has TLS, and without a
/// request; on the loop's thread.
final class UplinkTrial {
    /// How long connection and handshake may take together; 4 s.
    private static let timeout = Duration.seconds(4)

    private var onEnd: ((Bool) -> Void)?

    /// - Parameter onEnd: called once with whether the server was reached, unless the trial is cancelled.
    init(onEnd: @escaping (Bool) -> Void) { self.onEnd = onEnd }

    /// What reaches the server of a request: the same address, without content.
    static func request(like request: SessionRequest) -> SessionRequest {
        var trial = SessionRequest(url: request.url)
        trial.options = request.options
        trial.options.interface = nil
        trial.options.timeoutInterval = timeout
        trial.options.timeouts = RequestTimeouts(connect: timeout)
        return trial
    }
}

extension UplinkTrial: TransferDelegate {
    func transfer(
        _ transfer: Transfer, received head: SessionResponse
    ) throws(SessionError) -> any ContentSink { DiscardingSink(limit: 0) }
    func transferReceived(_ transfer: Transfer) {}
    func transferSent(_ transfer: Transfer) {}
    func transferWaitsForBody(_ transfer: Transfer, _ reader: any BodyReader) {}
    func transfer(_ transfer: Transfer, waitsForSlot: Bool) {}
    func transferLostPath(_ transfer: Transfer, _ loss: PathLoss) { transfer.abandon() }
    func transferMayRepeat(_ transfer: Transfer) -> Bool { true }
    func transferMayMove(_ transfer: Transfer) -> Bool { false }
    func transferMayUse(_ transfer: Transfer, _ detour: Detour) -> UplinkTraits? { nil }

    func transferEnded(_ transfer: Transfer, _ end: TransferEnd) { onEnd.take()?(end.error == nil) }
}

extension Uplink {
    /// The uplink at the cost that the queue knows of.
    func priced(_ traits: UplinkTraits) -> Uplink {
        var uplink = self
        (uplink.isExpensive, uplink.isConstrained) = (traits.isExpensive, traits.isConstrained)
        return uplink
    }
}

extension Detour {
    /// The way around a line, over an uplink that reaches a server.
    init(_ server: LineRace.Server, _ uplink: Uplink) {
        self.init(
            line: server.name, uplink: uplink.name,
            traits: UplinkTraits(
                isWiFi: uplink.isWiFi, isWired: uplink.isWired, isExpensive: uplink.isExpensive,
                isConstrained: uplink.isConstrained, ssid: uplink.ssid),
            sentence:
                "\(server.name): nothing comes back from behind it; \(server.peer.address) answers through \(uplink.name)"
        )
    }
}
