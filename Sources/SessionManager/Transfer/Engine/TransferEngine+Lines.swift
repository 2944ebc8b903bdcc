// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Reachability
import ReachabilityCore
import SessionCore

/// What an engine does where lines or name servers may be dead.
extension TransferEngine {
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
            for uplink in ["", interface] {
                handles.addresses.add([peer.address], of: request.url, over: uplink, at: turn.clock.now)
            }
        }
        let transfer = Transfer(
            Shared(request), priority: 1, isBulk: false, credentials: nil, needsNewConnection: true,
            isTrial: true, binding: .interface(interface), engine: self, delegate: UplinkTrial(onEnd: onEnd))
        turn.outsideLibcurl { [self] in begin(transfer) }
        return transfer
    }

    func hostToLookUp(of transfer: Transfer) -> String? {
        transfer.wantedInterface(configuration) == nil ? hostToLookUp(of: transfer, at: nil) : nil
    }

    private func hostToLookUp(of transfer: Transfer, at now: Int64?) -> String? {
        let url = transfer.request.url
        // With names by https, what goes to a name server could be read on the way.
        guard !transfer.isTrial, transfer.route == nil, configuration.dnsOverHTTPS == nil,
            let host = handles.addresses.hostWithoutAddress(url, over: transfer.boundInterface, at: now),
            !lookups.isLocal(host), proxy(for: url) == nil
        else { return nil }
        return host
    }

    /// The host that is looked up over the uplink of a transfer; nil where libcurl looks it up.
    func lookup(for transfer: Transfer) -> (host: String, interface: String)? {
        let bound = transfer.boundInterface
        guard let uplink = bound.isEmpty ? paths.lines.detour?.uplink : bound,
            let host = hostToLookUp(of: transfer, at: turn.clock.now)
        else { return nil }
        return (host, uplink)
    }

    /// Name servers have told this for a transfer; no address where none has answered.
    func lookedUp(_ addresses: [IPAddress], for transfer: Transfer) {
        handles.addresses.add(
            addresses, of: transfer.request.url, over: transfer.boundInterface, at: turn.clock.now)
    }

    func use(_ addresses: [IPAddress], of url: URL) {
        handles.addresses.add(addresses, of: url, over: "", at: turn.clock.now)
        handles.usesKnownAddresses = true
        _ = reactor.schedule(at: turn.clock.now &+ FixedAddresses.lifetime) { [weak self] in
            guard let self, lines.detour == nil else { return }
            handles.usesKnownAddresses = false
            handles.addresses.forgetKnown()
        }
    }
}
