// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import Reachability
import ReachabilityCore

/// Looks up the hosts of transfers over the uplink that carries them, since the name servers may be behind a
/// dead line; on the loop's thread.
final class LinkLookups {
    private let reactor: Reactor
    private let files = NameServerFiles()
    private var lookups: [ObjectIdentifier: LinkResolver] = [:]

    init(reactor: Reactor) { self.reactor = reactor }

    /// Looks up a host for a transfer.
    ///
    /// - Parameter completion: called later, with no address where the system's resolver is to be asked.
    func begin(
        for transfer: Transfer, _ host: String, over interface: String,
        completion: @escaping ([IPAddress]) -> Void
    ) {
        let id = ObjectIdentifier(transfer)
        let index = Int32(bitPattern: if_nametoindex(interface))
        lookups[id] = LinkResolver(
            host, over: interface, servers: files.servers(for: index, name: interface), on: reactor
        ) { [unowned self] addresses in
            lookups[id] = nil
            completion(addresses)
        }
    }

    /// Ends the lookup of a transfer; false where there is none.
    func cancel(_ transfer: Transfer) -> Bool {
        guard let lookup = lookups.removeValue(forKey: ObjectIdentifier(transfer)) else { return false }
        lookup.cancel()
        return true
    }

    /// Whether a host is one that only the system's resolver knows: in hosts(5), without a point, or of
    /// multicast DNS (RFC 6762).
    func isLocal(_ host: String) -> Bool {
        let lower = host.lowercased()
        let name = lower.hasSuffix(".") ? String(lower.dropLast()) : lower
        return !name.contains(".") || name.hasSuffix(".local") || files.hasHost(name)
    }

    func close() {
        for lookup in lookups.values { lookup.cancel() }
        lookups = [:]
    }
}
