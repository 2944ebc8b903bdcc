// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Reachability
import ReachabilityCore
import SessionCore

/// What an engine does where lines or name servers may be dead.
extension TransferEngine {
    /// How long addresses that another uplink's name servers have told are used: 60 s.
    private static let addressTime: Int64 = 60_000_000_000

    /// What is known of the lines behind interfaces.
    var lines: LineKnowledge {
        get { paths.lines }
        set {
            let isNew = (newValue.detour == nil) != (paths.lines.detour == nil)
            paths.lines = newValue
            guard isNew else { return }
            handles.usesKnownAddresses = newValue.detour != nil
            if newValue.detour == nil { handles.addresses.forgetKnown() }
        }
    }

    /// Connects to the server of a request over an interface, and sends nothing.
    func tryServer(
        of request: SessionRequest, at peer: PeerAddress?, over interface: String,
        onEnd: @escaping (Bool) -> Void
    ) -> Transfer {
        if let peer, proxy(for: request.url) == nil {
            handles.addresses.add([peer.address], of: request.url)
        }
        let transfer = Transfer(
            Shared(request), priority: 1, isBulk: false, credentials: nil, needsNewConnection: true,
            binding: .interface(interface), engine: self, delegate: UplinkTrial(onEnd: onEnd))
        transfer.isTrial = true
        if let approvals, transfer.isSecure { transfer.judge = approvals.judge(for: transfer.origin) }
        turn.outsideLibcurl { [self] in begin(transfer) }
        return transfer
    }

    func hostToLookUp(of transfer: Transfer) -> String? {
        let url = transfer.request.url
        guard !transfer.isTrial, transfer.wantedInterface(configuration) == nil,
            let host = handles.addresses.hostWithoutAddress(url), !lookups.isLocal(host),
            proxy(for: url) == nil
        else { return nil }
        return host
    }

    /// The host that is looked up over the uplink of a transfer; nil where libcurl looks it up.
    func lookup(for transfer: Transfer) -> (host: String, interface: String)? {
        var uplink = lines.detour?.uplink
        if case .interface(let name) = transfer.binding { uplink = name }
        guard let uplink, let host = hostToLookUp(of: transfer) else { return nil }
        return (host, uplink)
    }

    func use(_ addresses: [IPAddress], of url: URL) {
        handles.addresses.add(addresses, of: url)
        handles.usesKnownAddresses = true
        _ = reactor.schedule(at: turn.clock.now &+ Self.addressTime) { [weak self] in
            guard let self, lines.detour == nil else { return }
            handles.usesKnownAddresses = false
            handles.addresses.forgetKnown()
        }
    }
}
