// SPDX-License-Identifier: Apache-2.0

/// Whether the traffic of a network costs money or quota, with the values of NetworkManager's `Metered`.
public enum Metered: String, Sendable, CaseIterable, CustomStringConvertible {
    /// Nothing tells, as of a serial line or a virtual link.
    case unknown
    /// It costs, by configuration or by a hint.
    case yes
    /// Probably: a modem, Bluetooth, a telephone on USB, or a DHCP server that says `ANDROID_METERED`.
    case guessYes = "guess-yes"
    /// Probably not: Ethernet or Wi-Fi, without other evidence.
    case guessNo = "guess-no"
    /// It does not cost, by configuration or by a hint.
    case no

    /// Whether it costs, or probably does.
    public var costs: Bool { self == .yes || self == .guessYes }

    /// The value as NetworkManager spells it.
    public var description: String { rawValue }

    /// Reads `NAME=VALUE`, as `wwan0=yes`; the name of a network may have an equals sign.
    package static func assignment(_ text: String) -> (name: String, metered: Metered)? {
        guard let sign = text.lastIndex(of: "="), sign > text.startIndex,
            let value = Metered(rawValue: String(text[text.index(after: sign)...]))
        else { return nil }
        return (String(text[..<sign]), value)
    }

    /// What is said of each name; the last word counts.
    package static func assignments(_ texts: [String]) -> [String: Metered] {
        var costs: [String: Metered] = [:]
        for case let (name, metered)? in texts.map(assignment) { costs[name] = metered }
        return costs
    }

    /// Its rank from free to costly.
    var rank: Int {
        switch self {
        case .no: 0
        case .guessNo: 1
        case .unknown: 2
        case .guessYes: 3
        case .yes: 4
        }
    }
}
