// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Scan results that led to no lasting answer, so that they are not read again with every evaluation.
///
/// A driver that tells of no stations, or names no network, would cost a dump of all scan results each time. They are
/// read again when an event says that the connection may be another one, and otherwise after pauses that double from
/// 100 ms to a minute.
package struct ScanResultCache: Sendable {
    private struct Scan: Sendable {
        var station: WirelessStation?
        var network: WirelessNetwork?
        var delay = Backoff(first: .milliseconds(100), limit: .seconds(60))
        var until: Int64 = 0
    }

    private var scans: [Int32: Scan] = [:]

    package init() {}

    /// What the last reading said of the network of `station`, as long as it holds; nil where it is to be read again.
    ///
    /// The inner nil: there was no such network. `now` counts in nanoseconds.
    package func network(_ index: Int32, of station: WirelessStation?, at now: Int64) -> WirelessNetwork?? {
        guard let scan = scans[index], now < scan.until, Self.isSame(scan.station, station) else {
            return nil
        }
        return .some(scan.network)
    }

    /// Keeps what was read for `station`, for a while.
    package mutating func keep(
        _ network: WirelessNetwork?, _ index: Int32, of station: WirelessStation?, at now: Int64
    ) {
        var scan = scans[index] ?? Scan()
        if !Self.isSame(scan.station, station) { scan = Scan() }
        scan.station = station
        scan.network = network
        scan.until = now &+ scan.delay.nextDelay().inNanoseconds
        scans[index] = scan
    }

    /// Forgets an interface whose network is known for good.
    package mutating func forget(_ index: Int32) { scans[index] = nil }

    /// Forgets what `event` may have changed.
    package mutating func invalidate(after event: NetworkEvent) {
        guard !scans.isEmpty else { return }
        switch event {
        case .linkChanged(let link, isWirelessNoise: false): scans[link.index] = nil
        case .linkRemoved(let index): scans[index] = nil
        // Of lost events nobody knows the interface: 0.
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
