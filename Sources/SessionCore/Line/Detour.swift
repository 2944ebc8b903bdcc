// SPDX-License-Identifier: Apache-2.0

/// What decides whether requests may use an uplink.
package struct UplinkTraits: Sendable, Equatable {
    package var isWiFi: Bool
    /// Whether a wire carries it, and no modem.
    package var isWired: Bool
    package var isExpensive: Bool
    /// Whether data is to be saved on it.
    package var isConstrained: Bool
    /// The name of the Wi-Fi network that carries it, where it is known.
    package var ssid: String?

    package init(
        isWiFi: Bool = false, isWired: Bool = false, isExpensive: Bool = false, isConstrained: Bool = false,
        ssid: String? = nil
    ) {
        self.isWiFi = isWiFi
        self.isWired = isWired
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
        self.ssid = ssid
    }
}

/// The traffic that would go over a dead line goes over another uplink.
package struct Detour: Sendable, Equatable {
    /// The interface whose line is dead.
    package var line: String
    /// The interface that is used instead.
    package var uplink: String
    package var traits: UplinkTraits
    /// Whether large packets alone are lost: tries of the line, which are small, do not show when that ends.
    package var losesLarge = false
    /// Why, for a person.
    package var sentence: String

    package init(line: String, uplink: String, traits: UplinkTraits = .init(), sentence: String) {
        self.line = line
        self.uplink = uplink
        self.traits = traits
        self.sentence = sentence
    }

    /// The way around a line behind which a probe has found no internet.
    init(_ line: UplinkInternet, by other: UplinkInternet) {
        self.init(
            line: line.interface, uplink: other.interface, traits: other.traits,
            sentence:
                "\(line.interface): the internet was not found behind it (\(line.reason)), but through \(other.interface)"
        )
    }
}

/// Where a queue's new exchanges go while the line behind the preferred uplink is dead.
public struct UplinkDetour: Sendable, Equatable {
    /// The interface whose line is dead.
    public let line: String
    /// The interface that carries what goes beyond the router instead.
    public let uplink: String
    /// Why, for a person; without a full stop.
    public let sentence: String

    package init(_ detour: Detour) {
        (line, uplink, sentence) = (detour.line, detour.uplink, detour.sentence)
    }
}

extension NetworkFacts {
    /// The same network with what goes beyond the router going another way.
    package func detoured(by detour: Detour?) -> NetworkFacts {
        guard let detour else { return self }
        var facts = self
        facts.isDetoured = true
        facts.detour = detour
        facts.alternative = detour.uplink
        facts.isAlternativeWiFi = detour.traits.isWiFi
        facts.isAlternativeWired = detour.traits.isWired
        facts.isAlternativeExpensive = detour.traits.isExpensive
        facts.isAlternativeConstrained = detour.traits.isConstrained
        facts.sentence = detour.sentence
        return facts
    }
}
