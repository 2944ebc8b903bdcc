// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// The condition of `reach wait` and of the service's method `Wait`.
package struct WaitCondition: Sendable, Hashable {
    /// The condition to wait for.
    package enum Goal: String, Sendable, Hashable, CaseIterable {
        case reachable, unreachable, wifi, wired
    }

    package var goal: Goal
    /// Only through this interface.
    package var interface: String?

    package init(goal: Goal, interface: String? = nil) {
        self.goal = goal
        self.interface = interface
    }

    /// Whether it holds.
    ///
    /// - Returns: the interface through which it holds ("" for none), or nil. During the grace period after a
    ///   loss nothing holds: there is no path, and its loss is not certain yet.
    package func match(status: ReachabilityStatus, path: ReachabilityPath, links: [LinkReport]) -> String? {
        guard let interface else { return matchAnywhere(status, path) }
        let own = links.first { $0.name == interface }
        let isEgress = path.isOnline && path.interface == interface && status.isReachable
        let isOnline = isEgress || own?.isOnline == true
        let isWiFi = isEgress ? status == .wifi : own?.isWiFi == true
        let holds =
            switch goal {
            case .reachable: isOnline
            case .unreachable: !isOnline && (status == .unreachable || status.isReachable && path.isOnline)
            case .wifi: isOnline && isWiFi
            case .wired: isOnline && !isWiFi
            }
        return holds ? interface : nil
    }

    private func matchAnywhere(_ status: ReachabilityStatus, _ path: ReachabilityPath) -> String? {
        let holds =
            switch goal {
            case .reachable: path.isOnline && status.isReachable
            case .unreachable: status == .unreachable && !path.isOnline
            case .wifi: path.isOnline && status == .wifi
            case .wired: path.isOnline && status == .wired
            }
        return holds ? path.interface ?? "" : nil
    }

    /// The condition in words: "reachable through eth0".
    package var words: String {
        let what = goal == .wifi ? "reachable by Wi-Fi" : goal == .wired ? "reachable by wire" : goal.rawValue
        return what + (interface.map { " through \($0)" } ?? "")
    }
}

/// Whether the condition has held for long enough.
package struct WaitProgress: Sendable {
    private let stable: Duration
    private var held: (since: MonotonicInstant, interface: String)?

    package init(stable: Duration) { self.stable = stable }

    /// Records the current match; another interface restarts the time, as an interruption does.
    package mutating func observe(_ match: String?, at now: MonotonicInstant) {
        guard let match else { return held = nil }
        if held?.interface != match { held = (now, match) }
    }

    /// When it will have held for long enough; nil while it does not hold.
    package var deadline: MonotonicInstant? { held.map { $0.since + stable } }

    /// Whether the condition has held for long enough.
    package func isMet(at now: MonotonicInstant) -> Bool { deadline.map { $0 <= now } ?? false }
}
