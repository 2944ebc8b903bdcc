// SPDX-License-Identifier: Apache-2.0

import Reachability

/// What `reach wait` waits for.
struct WaitCondition: Sendable, Hashable {
    /// The words of `--for`.
    enum Goal: String, Sendable, Hashable, CaseIterable {
        case reachable, unreachable, wifi, wired
    }

    var goal: Goal
    /// Only through this interface.
    var interface: String?

    init(goal: Goal, interface: String? = nil) {
        self.goal = goal
        self.interface = interface
    }

    /// Whether it holds.
    ///
    /// - Returns: The interface through which it holds ("" for none); nil where it does not. While a loss is held back
    ///   from the status, the path is not usable and nothing but the loss holds.
    func match(status: ReachabilityStatus, path: ReachabilityPath, links: [LinkReport]) -> String? {
        guard let interface else { return matchAnywhere(status, path) }
        let own = links.first { $0.name == interface }
        let isEgress = path.isOnline && path.interface == interface && status.isReachable
        let isOnline = isEgress || own?.isOnline == true
        let isWiFi = isEgress ? status == .wifi : own?.medium == .wifi
        let holds =
            switch goal {
            case .reachable: isOnline
            case .unreachable: !isOnline && status != .unknown
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

    /// What a link lacks for it; `report` is the link's.
    func unmet(_ link: LinkReport, _ path: ReachabilityPath) -> String {
        let sentence = LinkTable.sentence(link, path)
        switch goal {
        case .reachable: return link.isOnline ? "online: \(sentence)" : sentence
        case .unreachable: return link.isOnline ? "is online: \(sentence)" : "offline: \(sentence)"
        case .wifi where !Self.mayBeWiFi(link.medium): return "\(link.medium), not Wi-Fi"
        case .wired where link.medium == .wifi: return "Wi-Fi, not wired"
        case .wifi, .wired: return link.isOnline ? "online: \(sentence)" : sentence
        }
    }

    // What lies on top of other links may be carried by Wi-Fi.
    private static func mayBeWiFi(_ medium: Medium) -> Bool {
        switch medium {
        case .wifi, .tunnel, .bridge, .bond, .vlan: true
        case .ethernet, .cellular, .virtual, .loopback, .other: false
        }
    }

    /// What is waited for, in words: "reachable through eth0".
    var words: String {
        let what = goal == .wifi ? "reachable by Wi-Fi" : goal == .wired ? "reachable by wire" : goal.rawValue
        return what + (interface.map { " through \($0)" } ?? "")
    }
}

/// Whether the condition has held for long enough.
struct WaitProgress: Sendable {
    private let stable: Duration
    private var held: (since: MonotonicInstant, interface: String)?

    init(stable: Duration) { self.stable = stable }

    /// Takes in how things are.
    ///
    /// Another interface starts the time anew, as an interruption does.
    mutating func observe(_ match: String?, at now: MonotonicInstant) {
        guard let match else {
            held = nil
            return
        }
        if held?.interface != match { held = (now, match) }
    }

    /// When it will have held for long enough; nil while it does not hold.
    var deadline: MonotonicInstant? { held.map { $0.since + stable } }

    /// Whether it has.
    func isMet(at now: MonotonicInstant) -> Bool { deadline.map { $0 <= now } ?? false }
}
