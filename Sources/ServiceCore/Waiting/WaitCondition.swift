// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import SessionCore

/// The condition of `reach wait` and of the service's method `Wait`.
package struct WaitCondition: Sendable, Hashable {
    /// The condition to wait for.
    package enum Goal: String, Sendable, Hashable, CaseIterable {
        case reachable, unreachable, wifi, wired, internet
    }

    package var goal: Goal
    /// Only through these interfaces; empty for any way.
    package var interfaces: [String]
    /// Whether all of ``interfaces`` are needed; else one is enough.
    package var needsAll: Bool
    /// The interfaces that do not count.
    package var ignored: [InterfacePattern]

    package init(
        goal: Goal, interfaces: [String] = [], needsAll: Bool = false, ignored: [InterfacePattern] = []
    ) {
        self.goal = goal
        self.interfaces = interfaces
        self.needsAll = needsAll
        self.ignored = ignored
    }

    /// Whether it depends on single links, which change without an update of the path in use.
    package var readsLinks: Bool { !interfaces.isEmpty || !ignored.isEmpty }

    /// The interfaces over which a server has to be asked, whatever that costs.
    package var asked: [String] { goal == .internet ? interfaces : [] }

    /// Whether the interface is one that does not count.
    package func ignores(_ name: String) -> Bool { ignored.contains { $0.matches(name) } }

    /// Whether the interface counts.
    package func considers(_ name: String) -> Bool {
        interfaces.isEmpty ? !ignores(name) : interfaces.contains(name)
    }

    /// Whether it holds.
    ///
    /// - Parameter held: the former result, which is kept where it still holds: a second interface beside it
    ///   is no interruption.
    /// - Returns: the interface through which it holds ("" for none, several with spaces between), or nil.
    ///   During the grace period after a loss nothing holds: there is no path, and its loss is not certain
    ///   yet.
    package func match(_ report: Report, holding held: String? = nil) -> String? {
        guard !interfaces.isEmpty else {
            return ignored.isEmpty ? matchAnywhere(report) : matchBesideIgnored(report, held)
        }
        let holding = interfaces.filter { holds(through: $0, report) }
        if needsAll { return holding == interfaces ? interfaces.joined(separator: " ") : nil }
        return holding.first { $0 == held } ?? holding.first
    }

    private func matchAnywhere(_ report: Report) -> String? {
        let (status, path) = (report.status, report.path)
        let holds =
            switch goal {
            case .reachable: path.isOnline && status.isReachable
            case .unreachable: status == .unreachable && !path.isOnline
            case .wifi: path.isOnline && status == .wifi
            case .wired: path.isOnline && status == .wired
            case .internet: path.isOnline && status.isReachable && report.internet == .full
            }
        return holds ? path.interface ?? "" : nil
    }

    private func matchBesideIgnored(_ report: Report, _ held: String?) -> String? {
        let names = ([report.path.interface].compactMap { $0 } + report.links.map(\.name))
            .filter { !ignores($0) }
        guard goal != .unreachable else {
            let isOffline = names.allSatisfy { !isOnline($0, report) }
            return isOffline && isLossCertain(report) ? "" : nil
        }
        let holding = names.filter { holds(through: $0, report) }
        return holding.first { $0 == held } ?? holding.first
    }

    private func holds(through name: String, _ report: Report) -> Bool {
        let isWiFi =
            isInUse(name, report)
            ? report.status == .wifi : report.links.first { $0.name == name }?.isWiFi == true
        return switch goal {
        case .reachable: isOnline(name, report)
        case .unreachable: !isOnline(name, report) && isLossCertain(report)
        case .wifi: isOnline(name, report) && isWiFi
        case .wired: isOnline(name, report) && !isWiFi
        case .internet: hasInternet(name, report)
        }
    }

    /// Whether the server answers over the interface, preferred by the kernel or not.
    private func hasInternet(_ name: String, _ report: Report) -> Bool {
        guard !isInUse(name, report) else { return report.internet == .full }
        return isOnline(name, report)
            && report.uplinks.contains { $0.interface == name && $0.state == .full }
    }

    private func isInUse(_ name: String, _ report: Report) -> Bool {
        report.path.isOnline && report.path.interface == name && report.status.isReachable
    }

    /// Whether the interface has a path, preferred by the kernel or not.
    private func isOnline(_ name: String, _ report: Report) -> Bool {
        isInUse(name, report) || report.links.first { $0.name == name }?.isOnline == true
    }

    private func isLossCertain(_ report: Report) -> Bool {
        report.status == .unreachable || report.status.isReachable && report.path.isOnline
    }
}

/// A contradiction between the terms of a wait.
package enum WaitConflict: Sendable, Hashable {
    /// All interfaces are needed, and none is named.
    case allOfNone
    /// An interface that is named does not count.
    case ignoresNamed(String, InterfacePattern)
    /// What is unreachable needs no carrier.
    case carrierForUnreachable
}

extension WaitCondition {
    /// The first contradiction.
    package func conflict(_ limits: WaitLimits) -> WaitConflict? {
        if needsAll, interfaces.isEmpty { return .allOfNone }
        for name in interfaces {
            if let pattern = ignored.first(where: { $0.matches(name) }) {
                return .ignoresNamed(name, pattern)
            }
        }
        return goal == .unreachable && limits.noCarrier != nil ? .carrierForUnreachable : nil
    }
}

// For people.
extension WaitCondition {
    /// The condition in words: "reachable through eth0 or wlan0".
    package var words: String {
        let what =
            switch goal {
            case .reachable, .unreachable: goal.rawValue
            case .wifi: "reachable by Wi-Fi"
            case .wired: "reachable by wire"
            case .internet: "connected to the internet"
            }
        let left = ignored.map(\.description).joined(separator: ", ")
        return what + (named.map { " through \($0)" } ?? "") + (left.isEmpty ? "" : " (\(left) ignored)")
    }

    /// Why the wait was given up: "gave up after 10 s without a carrier on any link".
    package func withoutCarrier(_ limits: WaitLimits) -> String {
        "gave up after \(DurationText.people(limits.noCarrier ?? .zero)) without a carrier on "
            + (named ?? "any link")
    }

    /// "eth0", "eth0 or eth1", "eth0, eth1 and eth2"; nil for any interface.
    private var named: String? {
        guard let last = interfaces.last else { return nil }
        let others = interfaces.dropLast().joined(separator: ", ")
        return others.isEmpty ? last : "\(others) \(needsAll ? "and" : "or") \(last)"
    }
}
