// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import EventLoop
package import ReachabilityCore

/// Asks nl80211 about an interface (linux/nl80211.h).
///
/// It never fails as a whole: Wi-Fi's details are an extra, so what cannot be asked is an answer too.
package final class WirelessQuery {
    /// How often the scan results are read because they changed meanwhile.
    private static let scanAttempts = 3
    /// Interfaces whose network is remembered; adapters that are plugged in again get a new index each time.
    private static let memoryLimit = 16

    private struct Association {
        var station: WirelessStation
        let ssid: String?
        /// Whether the station was gone meanwhile: the next one is a new association.
        var isOver = false
    }

    private let channel: GenericChannel
    private var family: UInt16?
    /// The network's name costs reading all scan results, so it is asked once for each association.
    private var associations: [Int32: Association] = [:]
    private var scans = ScanResultCache()
    private let now: () -> Int64

    /// Asks over what `open` opens, when it is needed and again when it broke.
    ///
    /// - Parameter now: The monotonic clock in nanoseconds; nil for the kernel's.
    package init(
        open: @escaping () throws(NetlinkError) -> any NetlinkTransport, now: (() -> Int64)? = nil
    ) {
        channel = GenericChannel(open: open)
        self.now = now ?? { Reactor.now }
    }

    /// Learns what happened, so that scan results are read again where they may say something else.
    package func handle(_ event: NetworkEvent) { scans.invalidate(after: event) }

    /// What nl80211 says of the interface: ENOENT where the kernel has no nl80211 (loaded), ENODEV where the
    /// interface is not Wi-Fi.
    package func state(of index: Int32) -> KernelAnswer {
        do throws(GenericChannel.Refusal) {
            let family = try familyNumber()
            var state: WirelessState?
            try ask(family, NL80211_CMD_GET_INTERFACE, index) { message, bytes in
                state = WirelessState(interface: message.body, in: bytes) ?? state
            }
            guard var state else { return .failure(EBADMSG) }
            // An access point has many stations; a client has one: its access point.
            if state.mode == NL80211_IFTYPE_STATION.rawValue
                || state.mode == NL80211_IFTYPE_P2P_CLIENT.rawValue
            {
                askConnection(family, index, &state)
            }
            return .wireless(state)
        } catch {
            // A number that the family no longer has: its module was loaded anew.
            if error.errno == ENOENT || error.errno == EOPNOTSUPP { family = nil }
            return .failure(error.errno)
        }
    }

    /// Asks what a client is connected to; what is refused stays unknown.
    private func askConnection(_ family: UInt16, _ index: Int32, _ state: inout WirelessState) {
        var station: WirelessStation?
        _ = try? ask(family, NL80211_CMD_GET_STATION, index, flags: NLM_F_DUMP) { message, bytes in
            station = state.readStation(message.body, in: bytes) ?? station
        }
        guard let station else { return askLostConnection(family, index, &state) }
        if let known = associations[index], !known.isOver, station.continues(known.station) {
            associations[index]?.station = station
            state.ssid = state.ssid ?? known.ssid
            return
        }
        associations[index] = nil
        // Up to Linux 6.1 at least, the interface names the network only where the kernel itself manages the
        // connection (NL80211_CMD_CONNECT); wpa_supplicant does that only with drivers which leave no choice.
        if state.ssid == nil {
            guard let network = network(family, index, station) else { return }
            state.ssid = network.ssid
            // Where it has just roamed, the name may be the old network's: asked again with the next question.
            guard network.isServed(by: station.address) else { return }
        }
        scans.forget(index)
        if associations.count >= Self.memoryLimit { associations.removeAll() }
        associations[index] = Association(station: station, ssid: state.ssid)
    }

    /// No station: a connection comes or goes, or the driver tells of no stations.
    private func askLostConnection(_ family: UInt16, _ index: Int32, _ state: inout WirelessState) {
        if let known = associations[index] {
            // The link tells of the loss itself, a moment later. Until then the path is what it was: a path without
            // an access point would look like one more change.
            associations[index]?.isOver = true
            state.accessPoint = known.station.address
            state.ssid = state.ssid ?? known.ssid
        } else if state.ssid == nil, let network = network(family, index, nil) {
            state.accessPoint = network.accessPoint
            state.ssid = network.ssid
        }
    }

    /// The network the interface is associated with, from the scan results; it stays there as long as it is used.
    private func network(_ family: UInt16, _ index: Int32, _ station: WirelessStation?) -> WirelessNetwork? {
        let now = now()
        if let known = scans.network(index, of: station, at: now) { return known }
        let network = scan(family, index, station)
        scans.keep(network, index, of: station, at: now)
        return network
    }

    private func scan(_ family: UInt16, _ index: Int32, _ station: WirelessStation?) -> WirelessNetwork? {
        for _ in 0..<Self.scanAttempts {
            var found: WirelessNetwork?
            let isWhole = try? ask(family, NL80211_CMD_GET_SCAN, index, flags: NLM_F_DUMP) { message, bytes in
                guard let network = WirelessNetwork(message.body, in: bytes) else { return }
                // After a change in between, two can be marked.
                if found == nil || network.accessPoint == station?.address { found = network }
            }
            // One entry is sound even where the dump as a whole is not.
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

    /// Asks about an interface; false where a dump was interrupted.
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
