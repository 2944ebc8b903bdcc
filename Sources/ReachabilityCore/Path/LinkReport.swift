// SPDX-License-Identifier: Apache-2.0

/// The report on one interface: whether it is online, and if not, what is missing.
public struct LinkReport: Sendable, Equatable {
    /// The name.
    public var name: String { content.name }
    /// The interface index.
    public var index: Int32 { content.index }
    /// The kind of the interface itself.
    public var medium: Medium { content.medium }
    /// Whether it has a usable path of its own, even if the kernel prefers another one.
    public var isOnline: Bool { content.isOnline }
    /// The path, or the first missing requirement.
    public var reason: ReachabilityReason { content.reason }
    /// The addresses with their prefix lengths, as text.
    public var addresses: [String] { content.addresses }
    /// The next router of the interface's own path.
    public var gateway: IPAddress? { content.gateway }
    /// The metric of the interface's own path.
    public var metric: UInt32? { content.metric }
    /// Whether its traffic costs money or quota.
    public var metered: Metered { content.cost.metered }
    /// Whether its modem is in the network of another provider, as the program that dials says.
    public var isRoaming: Bool { content.cost.isRoaming }
    /// Whether data is to be saved on it: ``ReachabilityConfiguration/constrainedInterfaces``.
    public var isConstrained: Bool { content.cost.isConstrained }
    /// Whether ``metered`` says that it costs, or probably does, or ``isRoaming`` and not ``Metered/no``.
    public var isExpensive: Bool { content.cost.isExpensive }
    /// Whether Wi-Fi carries it, regardless of its own kind; not determined for tunnels.
    package var isWiFi: Bool { content.isWiFi }

    // By reference: reports are passed on unchanged, and most equal those of the update before.
    private let shared: Shared
    private var content: Content { shared.content }

    private struct Content: Sendable, Equatable {
        let index: Int32
        let isOnline: Bool
        let name: String
        let medium: Medium
        let reason: ReachabilityReason
        let addresses: [String]
        let gateway: IPAddress?
        let metric: UInt32?
        let isWiFi: Bool
        let cost: NetworkCost
    }

    private final class Shared: Sendable {
        let content: Content

        init(_ content: Content) { self.content = content }
    }

    package init(
        name: String, index: Int32, medium: Medium, isOnline: Bool, reason: ReachabilityReason,
        addresses: [String] = [], gateway: IPAddress? = nil, metric: UInt32? = nil, isWiFi: Bool? = nil,
        cost: NetworkCost? = nil
    ) {
        shared = Shared(
            Content(
                index: index, isOnline: isOnline, name: name, medium: medium, reason: reason,
                addresses: addresses, gateway: gateway, metric: metric, isWiFi: isWiFi ?? (medium == .wifi),
                cost: cost ?? NetworkCost(medium == .cellular ? .guessYes : .unknown)))
    }

    /// Whether an obstacle keeps the link offline, whatever the routes are.
    var namesObstacle: Bool {
        if case .link = content.reason.obstacle { !content.isOnline } else { false }
    }

    /// Whether it says that the obstacle keeps the link offline, and nothing else of it has changed.
    func says(
        _ obstacle: EvaluationContext.Obstacle, _ name: String, _ physical: PhysicalMedium,
        addresses: [String]
    ) -> Bool {
        !isOnline && reason.obstacle == .link(obstacle.cause) && reason.code == obstacle.code
            && self.name == name && self.addresses == addresses && medium == physical.medium
            && isWiFi == physical.isWiFi && content.cost == physical.cost
    }

    /// The first position from `start` at which two lists differ, or where one of them ends.
    ///
    /// Of thousands of reports most are the same objects, which this compares without counting references.
    package static func firstDifference(_ a: [LinkReport], _ b: [LinkReport], from start: Int) -> Int {
        var position = start
        let end = min(a.count, b.count)
        while position < end, a[position].shared === b[position].shared || a[position] == b[position] {
            position += 1
        }
        return position
    }

    /// Whether the contents are equal.
    public static func == (a: LinkReport, b: LinkReport) -> Bool {
        a.shared === b.shared || a.content == b.content
    }
}

extension LinkReport: CustomStringConvertible {
    /// One line for logs.
    public var description: String {
        "\(name) (\(medium.rawValue), \(isOnline ? "online" : "offline")): \(reason.sentence)"
    }
}
