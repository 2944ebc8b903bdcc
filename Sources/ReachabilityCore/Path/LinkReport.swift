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
    /// Whether Wi-Fi carries it, regardless of its own kind; not determined for tunnels.
    package var isWiFi: Bool { content.isWiFi }

    // By reference: reports are passed on unchanged, and most equal those of the update before.
    private let content: Content

    private final class Content: Sendable {
        let name: String
        let index: Int32
        let medium: Medium
        let isOnline: Bool
        let reason: ReachabilityReason
        let addresses: [String]
        let gateway: IPAddress?
        let metric: UInt32?
        let isWiFi: Bool

        init(
            _ name: String, _ index: Int32, _ medium: Medium, _ isOnline: Bool, _ reason: ReachabilityReason,
            _ addresses: [String], _ gateway: IPAddress?, _ metric: UInt32?, _ isWiFi: Bool
        ) {
            self.name = name
            self.index = index
            self.medium = medium
            self.isOnline = isOnline
            self.reason = reason
            self.addresses = addresses
            self.gateway = gateway
            self.metric = metric
            self.isWiFi = isWiFi
        }
    }

    package init(
        name: String, index: Int32, medium: Medium, isOnline: Bool, reason: ReachabilityReason,
        addresses: [String] = [], gateway: IPAddress? = nil, metric: UInt32? = nil, isWiFi: Bool? = nil
    ) {
        content = Content(
            name, index, medium, isOnline, reason, addresses, gateway, metric, isWiFi ?? (medium == .wifi))
    }

    /// Whether the contents are equal.
    public static func == (a: LinkReport, b: LinkReport) -> Bool {
        if a.content === b.content { return true }
        return a.index == b.index && a.isOnline == b.isOnline && a.name == b.name && a.medium == b.medium
            && a.reason == b.reason && a.addresses == b.addresses && a.gateway == b.gateway
            && a.metric == b.metric && a.isWiFi == b.isWiFi
    }
}

extension LinkReport: CustomStringConvertible {
    /// One line for logs.
    public var description: String {
        "\(name) (\(medium.rawValue), \(isOnline ? "online" : "offline")): \(reason.sentence)"
    }
}
