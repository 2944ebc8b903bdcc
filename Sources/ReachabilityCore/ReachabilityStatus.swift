// SPDX-License-Identifier: Apache-2.0

/// Whether the network is reachable, and by which kind of medium.
///
/// The raw values are those of AFNetworking's `AFNetworkReachabilityStatus`: −1, 0 and 2 keep their meaning;
/// 1 (cellular there) stays reserved, because on Linux a cellular path is ``wired`` with
/// ``ReachabilityPath/medium`` ``Medium/cellular`` and ``ReachabilityPath/isExpensive`` beside it.
public enum ReachabilityStatus: Int, Sendable, Hashable, CaseIterable {
    /// Not known: not started, stopped, or impossible (netlink is refused); never holds a request back.
    case unknown = -1
    /// The kernel has no usable path: no route, no address, no carrier, or a dead link.
    case unreachable = 0
    /// The path is carried by Wi-Fi.
    case wifi = 2
    /// The path is carried by another medium: Ethernet, cellular, loopback …
    case wired = 3

    /// Whether requests can be expected to succeed: `wifi` or `wired`.
    ///
    /// False for ``unknown``, as in AFNetworking; a gate for requests must test for `!= .unreachable`.
    public var isReachable: Bool { self == .wifi || self == .wired }

    /// The sentence for people in English, and the key for translations; AFNetworking's strings, besides
    /// "Reachable via Wired" for ``wired``.
    public var localizationKey: String {
        switch self {
        case .unknown: "Unknown"
        case .unreachable: "Not Reachable"
        case .wifi: "Reachable via WiFi"
        case .wired: "Reachable via Wired"
        }
    }

    /// The sentence for people, translated by `table`.
    ///
    /// - Parameter table: Returns the translation for a key, or nil to use the key.
    public func localizedString(_ table: (_ key: String) -> String? = { _ in nil }) -> String {
        table(localizationKey) ?? localizationKey
    }
}

extension ReachabilityStatus: CustomStringConvertible, LosslessStringConvertible {
    /// The lower-case word used in JSON and on the command line: `unknown`, `unreachable`, `wifi`, `wired`.
    public var description: String {
        switch self {
        case .unknown: "unknown"
        case .unreachable: "unreachable"
        case .wifi: "wifi"
        case .wired: "wired"
        }
    }

    /// The status for a word of ``description``; nil for any other text.
    public init?(_ description: String) {
        guard let match = Self.allCases.first(where: { $0.description == description }) else { return nil }
        self = match
    }
}
