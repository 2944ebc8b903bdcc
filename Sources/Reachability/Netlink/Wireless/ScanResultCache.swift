// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Scan results for drivers that report no stations or names, so that not every evaluation dumps them.
///
/// They are read again after an event that may change the connection, and otherwise with delays that double
/// from 100 ms to a minute.
package struct ScanResultCache: Sendable {
    private struct Scan: Sendable {
        var station: WirelessStation?
        var network: WirelessNetwork?
        var delay = Backoff(first: .milliseconds(100), limit: .seconds(60))
        var until: Int64 = 0
    }

    private var scans: [Int32: Scan] = [:]

    package init() {}

    /// The cached network of `station`: nil to read again, the inner nil for none; `now` is in nanoseconds.
    package func network(_ index: Int32, of station: WirelessStation?, at now: Int64) -> WirelessNetwork?? {
        guard let scan = scans[index], now < scan.until, Self.isSame(scan.station, station)
        else { return nil }
        return .some(scan.network)
    }

    /// Stores the network of `station` for some time.
    package mutating func store(
        _ network: WirelessNetwork?, _ index: Int32, of station: WirelessStation?, at now: Int64
    ) {
        var scan = scans[index] ?? Scan()
        if !Self.isSame(scan.station, station) { scan = Scan() }
        scan.station = station
        scan.network = network
        scan.until = now &+ scan.delay.nextDelay().inNanoseconds
        scans[index] = scan
    }

    /// Removes an interface whose network is known permanently.
    package mutating func remove(_ index: Int32) { scans[index] = nil }

    /// Removes the results that `event` may have changed.
    package mutating func invalidate(after event: NetworkEvent) {
        guard !scans.isEmpty else { return }
        switch event {
        case .linkChanged(let link, isWirelessNoise: false): scans[link.index] = nil
        case .linkRemoved(let index): scans[index] = nil
        // 0 stands for an unknown interface, after lost events.
        case .wirelessChanged(let index): if index == 0 { scans = [:] } else { scans[index] = nil }
        case .overrun, .reopened, .resumed: scans = [:]
        default: break
        }
    }

    private static func isSame(_ a: WirelessStation?, _ b: WirelessStation?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return b.continues(a)
    }
}
