// SPDX-License-Identifier: Apache-2.0

/// The path of traffic at this instant, or the reason why there is none.
///
/// A value that never changes; ``generation`` distinguishes paths with equal fields.
public struct ReachabilityPath: Sendable, Equatable {
    /// Whether the path is usable now; the status shows a loss after ``ReachabilityTiming/lossGrace``.
    public package(set) var isOnline: Bool = false
    /// The status if this instant lasted.
    public package(set) var instantStatus: ReachabilityStatus = .unknown
    /// The egress interface; nil if there is no usable path.
    public package(set) var interface: String?
    /// The interface's index; 0 if there is no usable path.
    public package(set) var interfaceIndex: Int32 = 0
    /// The egress interface's own kind; nil if there is no usable path.
    public package(set) var medium: Medium?
    /// The source address of new connections.
    public package(set) var source: IPAddress?
    /// The next router; nil if the destination is on the link.
    public package(set) var gateway: IPAddress?
    /// The route's metric; nil if there is no usable path.
    public package(set) var metric: UInt32?
    /// The address families that have a usable path.
    public package(set) var families: Set<IPAddress.Family> {
        get { Set((hasIPv4 ? [.ipv4] : []) + (hasIPv6 ? [.ipv6] : [])) }
        set {
            hasIPv4 = newValue.contains(.ipv4)
            hasIPv6 = newValue.contains(.ipv6)
        }
    }
    /// Whether the egress interface is a tunnel.
    public package(set) var isTunnel: Bool = false
    /// Whether the tunnel's underlay is unknown, so that the tunnel counts without a check.
    ///
    /// Causes: the underlay is in another network namespace; the tunnel replaced the default route
    /// underneath; a rule refuses every lookup outside the tunnel; or the kernel is older than Linux 4.13.
    public package(set) var isTunnelUnchecked: Bool = false
    /// The interface that carries the tunnel.
    public package(set) var underlay: String?
    /// Whether traffic costs money or quota: by ``metered`` for certain or probably, or by ``isRoaming``
    /// unless that is ``Metered/no``.
    public package(set) var isExpensive: Bool = false
    /// Whether traffic costs, and how certain that is; by configuration, hint, Wi-Fi network, DHCP or kind.
    public package(set) var metered: Metered = .unknown
    /// Whether the modem is in the network of another provider, as the program that dials says.
    public package(set) var isRoaming: Bool = false
    /// Whether data is to be saved: ``ReachabilityConfiguration/constrainedInterfaces``.
    public package(set) var isConstrained: Bool = false
    /// Whether some traffic is lost: only a part of the address space has a route (`0.0.0.0/1` without its
    /// other half), or a leg of a multipath route is dead, which ``reason`` names.
    public package(set) var isPartial: Bool = false
    /// Whether the IPv6 source is a unique local address (RFC 4193), which is valid within the site only.
    public package(set) var isUniqueLocal: Bool = false
    /// The name of the Wi-Fi network that carries the path.
    public package(set) var ssid: String?
    /// The access point, six bytes.
    public package(set) var accessPoint: [UInt8]?
    /// The signal strength in dBm.
    public package(set) var signal: Int?
    /// An interface with a usable path of its own while the kernel's choice is dead.
    ///
    /// A socket bound to this interface (SO_BINDTODEVICE, socket(7)) connects while others fail.
    public package(set) var alternative: String?
    /// The source address for the ``alternative``; nil if the kernel's own choice is right.
    ///
    /// If rules select by source (`ip rule add from ADDRESS`), a socket bound to the interface must be bound
    /// to this address as well (bind(2)).
    public package(set) var alternativeSource: IPAddress?
    /// Increases whenever connections over an earlier path should no longer be trusted.
    public package(set) var generation: UInt64 = 0
    /// The reason.
    public package(set) var reason = ReachabilityReason(
        .notMonitoring, sentence: "monitoring has not started")
    /// Whether the kernel did not answer the last evaluation, so that these are earlier facts.
    public package(set) var isStale: Bool = false

    package var hasIPv4 = false
    // Whether dead legs make the path partial.
    package var hasDeadLegs = false
    package var hasIPv6 = false
    package var alternativeMedium: Medium?
    package var isAlternativeExpensive = false
    package var isAlternativeConstrained = false
    // Further properties whose change makes earlier connections worthless.
    package var carrierDownCount: UInt32 = 0
    package var underlayIndex: Int32 = 0

    package init() {}

    /// What traffic costs.
    package var cost: NetworkCost {
        get { NetworkCost(metered, isRoaming: isRoaming, isConstrained: isConstrained) }
        set {
            metered = newValue.metered
            isRoaming = newValue.isRoaming
            isConstrained = newValue.isConstrained
            isExpensive = newValue.isExpensive
        }
    }

    /// A path for a ``ReachabilityProvider`` of a test, or for another source of reachability.
    ///
    /// - Parameter status: `wifi` and `wired` make a usable path, `unreachable` none, `unknown` says nothing.
    public init(
        status: ReachabilityStatus, interface: String? = nil, medium: Medium? = nil, source: IPAddress? = nil,
        gateway: IPAddress? = nil, isExpensive: Bool = false, generation: UInt64 = 1,
        reason: ReachabilityReason? = nil, isConstrained: Bool = false
    ) {
        isOnline = status.isReachable
        instantStatus = status
        self.interface = interface
        self.medium = medium
        self.source = source
        self.gateway = gateway
        self.isExpensive = isExpensive
        metered = isExpensive ? .guessYes : .unknown
        self.isConstrained = isConstrained
        self.generation = generation
        if let source {
            hasIPv4 = source.family == .ipv4
            hasIPv6 = source.family == .ipv6
        }
        let code: ReachabilityReason.Code = status.isReachable ? .defaultRoute : .noRoute
        self.reason =
            reason ?? ReachabilityReason(code, interface: interface, sentence: status.localizationKey)
    }

    /// The path before monitoring starts and after it stops.
    public static let notMonitoring = ReachabilityPath()
}

extension ReachabilityPath {
    /// The path to a name without an address; nil while nothing is known.
    ///
    /// Without a general path no name server can be asked; with one, a failure may be transient.
    package static func unresolved(
        _ name: String, _ failure: NameFailure, general: ReachabilityPath
    ) -> ReachabilityPath? {
        if general.isOnline, case .temporary = failure { return nil }
        var path = ReachabilityPath()
        path.instantStatus = .unreachable
        path.alternative = general.alternative
        path.alternativeMedium = general.alternativeMedium
        path.isAlternativeExpensive = general.isAlternativeExpensive
        path.isAlternativeConstrained = general.isAlternativeConstrained
        let sentence =
            general.isOnline ? failure.sentence : "cannot resolve \(name): \(general.reason.sentence)"
        path.reason = ReachabilityReason(.unresolved, interface: general.reason.interface, sentence: sentence)
        return path
    }

    /// A path without facts, for this reason.
    package static func unknown(_ reason: ReachabilityReason) -> ReachabilityPath {
        var path = ReachabilityPath()
        path.reason = reason
        return path
    }
}
