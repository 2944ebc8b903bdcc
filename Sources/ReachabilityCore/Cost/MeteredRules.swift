// SPDX-License-Identifier: Apache-2.0

/// What the traffic of a link costs.
package struct NetworkCost: Sendable, Equatable {
    package var metered: Metered
    /// Whether its modem is in the network of another provider, as a hint says.
    package var isRoaming: Bool
    /// Whether data is to be saved on it.
    package var isConstrained: Bool

    package init(_ metered: Metered = .unknown, isRoaming: Bool = false, isConstrained: Bool = false) {
        self.metered = metered
        self.isRoaming = isRoaming
        self.isConstrained = isConstrained
    }

    /// Whether it costs, or probably does; roaming does unless it is known that it does not (`no`).
    package var isExpensive: Bool { metered.costs || isRoaming && metered != .no }

    /// The cost of a link with this port and another one: the lower of the two.
    func combined(with other: NetworkCost) -> NetworkCost {
        NetworkCost(
            metered.rank <= other.metered.rank ? metered : other.metered,
            isRoaming: isRoaming && other.isRoaming, isConstrained: isConstrained && other.isConstrained)
    }
}

/// What a program that dials a modem says of its link; it ends with the link.
package struct InterfaceHint: Sendable, Equatable {
    package var name: String
    /// The kernel gives the index of a link that has gone to no other one soon.
    package var index: Int32
    /// Nil says nothing.
    package var metered: Metered?
    package var isRoaming: Bool?

    package init(name: String, index: Int32, metered: Metered? = nil, isRoaming: Bool? = nil) {
        self.name = name
        self.index = index
        self.metered = metered
        self.isRoaming = isRoaming
    }
}

/// Decides what the traffic of a link costs.
///
/// The configuration of the interface counts before a hint, a hint before the configuration of the Wi-Fi
/// network, that before what the DHCP server said, and that before the kind of the link.
package struct MeteredRules: Sendable, Equatable {
    private let interfaces: [String: Metered]
    private let networks: [String: Metered]
    private let constrained: Set<String>
    package var hints: [InterfaceHint] = []

    package init(_ configuration: ReachabilityConfiguration) {
        var interfaces = configuration.metered
        for name in configuration.expensiveInterfaces where interfaces[name] == nil {
            interfaces[name] = .yes
        }
        self.interfaces = interfaces
        networks = configuration.meteredNetworks
        constrained = configuration.constrainedInterfaces
    }

    /// Whether nothing but the kind of a link and its lease counts.
    private var isEmpty: Bool {
        interfaces.isEmpty && networks.isEmpty && constrained.isEmpty && hints.isEmpty
    }

    /// The cost of a link.
    ///
    /// - Parameters:
    ///   - index: 0 if only the name is known.
    ///   - network: the name of its Wi-Fi network.
    ///   - hasMeteredLease: whether the DHCP server said that it costs.
    ///   - kind: what its kind costs, or what the link below it does.
    package func cost(
        of name: String, index: Int32 = 0, network: String? = nil, hasMeteredLease: Bool = false,
        kind: NetworkCost
    ) -> NetworkCost {
        var cost = kind
        if hasMeteredLease { cost.metered = .guessYes }
        guard !isEmpty else { return cost }
        if let network, let known = networks[network] { cost.metered = known }
        if let hint = hints.first(where: { $0.name == name && (index == 0 || $0.index == index) }) {
            cost.metered = hint.metered ?? cost.metered
            cost.isRoaming = hint.isRoaming ?? cost.isRoaming
        }
        if let known = interfaces[name] { cost.metered = known }
        if constrained.contains(name) { cost.isConstrained = true }
        return cost
    }

    /// Whether the name of a Wi-Fi network counts.
    var readsNetworks: Bool { !networks.isEmpty }

    /// The drivers of USB devices that are telephones or modems.
    ///
    /// cdc_ether and cdc_ncm are also those of plain network adapters; of a telephone behind them the DHCP
    /// server tells.
    private static let tethers: Set = [
        "rndis_host", "ipheth", "cdc_mbim", "huawei_cdc_ncm", "qmi_wwan", "sierra_net",
    ]

    /// Whether traffic through a device with this driver probably costs.
    static func isTether(_ driver: String?) -> Bool { driver.map(tethers.contains) ?? false }
}
