// SPDX-License-Identifier: Apache-2.0

/// Limitations of monitoring on this machine: it works, but costs more or detects some changes later.
public struct MonitorLimitations: OptionSet, Sendable, Hashable {
    /// The limitations as bits, which only the constants below name.
    public let rawValue: UInt8
    /// Limitations from bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The kernel refused the socket filter (SO_ATTACH_FILTER, socket(7)): route changes wake the process.
    public static let unfiltered = MonitorLimitations(rawValue: 1 << 0)
    /// Some multicast groups are missing: see ``ReachabilityTiming/partialSafetyInterval``.
    public static let partialEvents = MonitorLimitations(rawValue: 1 << 1)
    /// The kernel sends no events: it is asked again after ``ReachabilityTiming/pollInterval``.
    public static let noEvents = MonitorLimitations(rawValue: 1 << 2)

    /// A sentence for each limitation, without a full stop, for a log.
    public var sentences: [String] {
        var sentences: [String] = []
        if contains(.unfiltered) {
            sentences.append(
                "the kernel refuses the socket filter (is net.core.optmem_max too small?): every change of a route "
                    + "wakes this process")
        }
        if contains(.partialEvents) {
            sentences.append(
                "the kernel does not tell of everything that can change the way out (Linux before 5.3 has no news "
                    + "of nexthop objects): it is asked now and then as well")
        }
        if contains(.noEvents) {
            sentences.append("the kernel tells of no changes here: it is asked now and then instead")
        }
        return sentences
    }
}
