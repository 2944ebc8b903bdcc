// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import EventLoop
package import ReachabilityCore

/// Asks nl80211 about an interface (linux/nl80211.h); a refusal is an answer too, as details are optional.
package final class WirelessQuery {
    /// Attempts to read scan results that changed meanwhile.
    private static let scanAttempts = 3
    /// Interfaces whose network is stored; adapters get a new index each time they are plugged in.
    private static let memoryLimit = 16

    private struct Association {
        var station: WirelessStation
        let ssid: String?
        /// Whether the station disappeared meanwhile, so that the next one is a new association.
        var isOver = false
    }

    private let channel: GenericChannel
    private var family: UInt16?
    /// Stored, because finding the network's name means reading all scan results.
    private var associations: [Int32: Association] = [:]
    private var scans = ScanResultCache()
    private let now: () -> Int64

    /// A query over the transport that `open` creates, when needed and after a failure.
    ///
    /// - Parameter now: The monotonic clock in nanoseconds; nil for the kernel's.
    package init(open: @escaping () throws(NetlinkError) -> any NetlinkTransport, now: (() -> Int64)? = nil) {
        channel = GenericChannel(open: open)
        self.now = now ?? { Reactor.now }
    }

    /// Processes an event: scan results that it may have changed are read again.
    package func handle(_ event: NetworkEvent) { scans.invalidate(after: event) }

    /// The interface's state; ENOENT if nl80211 is not loaded, ENODEV if the interface is not Wi-Fi.
    package func state(of index: Int32) -> KernelAnswer {
        do throws(GenericChannel.Refusal) {
            let family = try familyNumber()
            var state: WirelessState?
            try ask(family, NL80211_CMD_GET_INTERFACE, index) { message, bytes in
                state = WirelessState(interface: message.body, in: bytes) ?? state
            }
            guard var state else { return .failure(EBADMSG) }
            // An access point has many stations; a client has one, its access point.
            if state.mode == NL80211_IFTYPE_STATION.rawValue
                || state.mode == NL80211_IFTYPE_P2P_CLIENT.rawValue
            {
                askConnection(family, index, &state)
            }
            return .wireless(state)
        } catch {
            // The family's number is outdated: its module was loaded again.
            if error.errno == ENOENT || error.errno == EOPNOTSUPP { family = nil }
            return .failure(error.errno)
        }
    }

    /// Asks for the connection of a client; refused details stay unknown.
    private func askConnection(_ family: UInt16, _ index: Int32, _ state: inout WirelessState) {
        var station: WirelessStation?
        _ = try? ask(family, NL80211_CMD_GET_STATION, index, flags: NLM_F_DUMP) { message, bytes in
            station = state.readStation(message.body, in: bytes) ?? station
        }
        guard let station else { return handleMissingStation(family, index, &state) }
        if let known = associations[index], !known.isOver, station.continues(known.station) {
            associations[index]?.station = station
            state.ssid = state.ssid ?? known.ssid
            return
        }
        associations[index] = nil
        // Up to Linux 6.1 at least, the interface has the network's name only if the kernel manages the
        // connection (NL80211_CMD_CONNECT), which wpa_supplicant rarely uses.
        if state.ssid == nil {
            guard let network = network(family, index, station) else { return }
            state.ssid = network.ssid
            // Just after roaming the name may be the old network's; the next question asks again.
            guard network.isServed(by: station.address) else { return }
        }
        scans.remove(index)
        if associations.count >= Self.memoryLimit { associations.removeAll() }
        associations[index] = Association(station: station, ssid: state.ssid)
    }

    /// Handles a missing station: a connection is changing, or the driver reports no stations.
    private func handleMissingStation(_ family: UInt16, _ index: Int32, _ state: inout WirelessState) {
        if let known = associations[index] {
            // The link reports the loss a moment later. Until then the old access point is returned, because
            // a path without one would count as a further change.
            associations[index]?.isOver = true
            state.accessPoint = known.station.address
            state.ssid = state.ssid ?? known.ssid
        } else if state.ssid == nil, let network = network(family, index, nil) {
            state.accessPoint = network.accessPoint
            state.ssid = network.ssid
        }
    }

    /// The network of the interface from the scan results, where it stays while in use.
    private func network(_ family: UInt16, _ index: Int32, _ station: WirelessStation?) -> WirelessNetwork? {
        let now = now()
        if let known = scans.network(index, of: station, at: now) { return known }
        let network = scan(family, index, station)
        scans.store(network, index, of: station, at: now)
        return network
    }

    private func scan(_ family: UInt16, _ index: Int32, _ station: WirelessStation?) -> WirelessNetwork? {
        for _ in 0..<Self.scanAttempts {
            var found: WirelessNetwork?
            let isWhole = try? ask(family, NL80211_CMD_GET_SCAN, index, flags: NLM_F_DUMP) { message, bytes in
                guard let network = WirelessNetwork(message.body, in: bytes) else { return }
                // After a change during the dump, two can be marked.
                if found == nil || network.accessPoint == station?.address { found = network }
            }
            // One entry is valid even if the dump is inconsistent.
            if found != nil || isWhole != false { return found }
        }
        return nil
    }

    private func familyNumber() throws(GenericChannel.Refusal) -> UInt16 {
        if let family { return family }
        var found: UInt16?
        try channel.exchange(isDump: false) { request, sequence in
            GenericFamily.ask("nl80211", sequence: sequence, in: &request)
        } _: { message, bytes in
            found = GenericFamily(message.body, in: bytes)?.number ?? found
        }
        guard let found else { throw GenericChannel.Refusal(errno: EBADMSG) }
        family = found
        return found
    }

    /// Asks about an interface; false if a dump was interrupted.
    @discardableResult
    private func ask(
        _ family: UInt16, _ command: nl80211_commands, _ index: Int32, flags: Int32 = 0,
        _ read: (NetlinkMessage, RawSpan) -> Void
    ) throws(GenericChannel.Refusal) -> Bool {
        try channel.exchange(isDump: flags & NLM_F_DUMP != 0) { request, sequence in
            request.begin(family, flags: flags, sequence: sequence)
            request.append(UInt8(truncatingIfNeeded: command.rawValue))
            request.append(UInt8(0))
            request.append(UInt16(0))
            request.attribute(Int(NL80211_ATTR_IFINDEX.rawValue), index)
            request.end()
        } _: { message, bytes in
            read(message, bytes)
        }
    }
}
