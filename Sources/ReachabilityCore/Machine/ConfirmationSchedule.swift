// SPDX-License-Identifier: Apache-2.0

/// When to ask the kernel again after an event, because it reports some changes before it makes them.
///
/// A lookup in between still finds the route, and no other event follows. The kernel needs a microsecond, but
/// much longer if its thread is preempted there: by the awakened reader itself on a single core, by other
/// threads, by a real-time thread (950 ms of each second by default, sched(7)), or by a hypervisor.
package struct ConfirmationSchedule: Sendable {
    // Three delays after the event, in nanoseconds.
    private static let soon: Int64 = 10_000_000
    private static let later: Int64 = 100_000_000
    private static let last: Int64 = 1_000_000_000

    /// The last event that came before its change.
    private var reported: MonotonicInstant?

    package init() {}

    /// Events arrive from now on: one before may have been the report of a change that is still to come.
    package mutating func started(at now: MonotonicInstant) { reported = now }

    package mutating func observed(_ event: NetworkEvent, at now: MonotonicInstant) {
        if event.precedesItsChange { reported = now }
    }

    /// When to ask next, after a question at `asked` was answered; nil for not again.
    package mutating func next(after asked: MonotonicInstant) -> MonotonicInstant? {
        guard let reported else { return nil }
        for delay in [Self.soon, Self.later, Self.last] {
            let due = reported.advanced(by: delay)
            if asked < due { return due }
        }
        self.reported = nil
        return nil
    }
}

extension NetworkEvent {
    /// Whether the kernel reports such a change before it makes it, or makes another one that it does not
    /// report.
    ///
    /// - IPv4 routes are removed after their message (fib_table_delete(), net/ipv4/fib_trie.c), and before
    ///   Linux 5.6 also replaced after it (fib_table_insert()).
    /// - Routes of an address are removed after its message (__inet_del_ifa(), net/ipv4/devinet.c), those of
    ///   a link that is switched off after its message (dev_close_many(), net/core/dev.c), and those with a
    ///   nexthop object after its message (remove_nexthop(), net/ipv4/nexthop.c).
    /// - Lost events may be any of these.
    package var precedesItsChange: Bool {
        switch self {
        case .routeRemoved(let prefix, _): prefix.address.family == .ipv4
        // A replacement is among those that do not name one interface.
        case .routeAdded(let prefix, let interface): prefix.address.family == .ipv4 && interface == nil
        case .linkChanged(let link, let isWirelessNoise): !isWirelessNoise && !link.flags.contains(.up)
        case .addressRemoved, .nexthopChanged, .overrun, .reopened: true
        case .linkRemoved, .addressAdded, .ruleChanged, .settingChanged, .routerChanged, .wirelessChanged,
            .resumed, .destinationsChanged, .requested:
            false
        }
    }
}
