// SPDX-License-Identifier: Apache-2.0

/// The way that traffic takes at this instant, or why there is none.
///
/// A value: it does not change behind your back. ``generation`` tells two paths with equal fields apart.
public struct ReachabilityPath: Sendable, Equatable {
    /// Whether the path is usable at this instant.
    ///
    /// A loss shows here at once, in the status only when it has lasted for ``ReachabilityTiming/lossGrace``.
    public package(set) var isOnline: Bool = false
    /// What the status would be if this instant lasted.
    public package(set) var instantStatus: ReachabilityStatus = .unknown
    /// The egress interface; nil where there is no usable path.
    public package(set) var interface: String?
    /// Its index; 0 where there is no usable path.
    public package(set) var interfaceIndex: Int32 = 0
    /// The egress interface's own kind; nil where there is no usable path.
    public package(set) var medium: Medium?
    /// The source address that connections get.
    public package(set) var source: IPAddress?
    /// The next router; nil where the destination is on the link.
    public package(set) var gateway: IPAddress?
    /// The route's metric; nil where there is no usable path.
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
    /// Whether nobody could say what carries the tunnel, so that it counts without a check.
    ///
    /// It lies in another network namespace; or the tunnel has taken the place of the default route beneath it; or a rule refuses
    /// every way that is looked up; or the kernel is older than Linux 4.13, which does not tell.
    public package(set) var isTunnelUnchecked: Bool = false
    /// The interface that carries the tunnel.
    public package(set) var underlay: String?
    /// Whether traffic costs money or quota: cellular, Bluetooth, or named so in the configuration.
    public package(set) var isExpensive: Bool = false
    /// Whether a part of the traffic gets nowhere: only a part of the address space has a route (`0.0.0.0/1` without its other half), or
    /// one of the legs of a multipath route is dead, which ``reason`` names.
    public package(set) var isPartial: Bool = false
    /// Whether the IPv6 source is a unique local address (RFC 4193), good for the site only.
    public package(set) var isUniqueLocal: Bool = false
    /// The name of the Wi-Fi network that carries the path.
    public package(set) var ssid: String?
    /// Its access point, six bytes.
    public package(set) var accessPoint: [UInt8]?
    /// Its signal strength in dBm.
    public package(set) var signal: Int?
    /// An interface that has a usable path of its own while the kernel's choice is dead.
    ///
    /// Other programs get no connection then; a socket bound to this interface (SO_BINDTODEVICE, socket(7)) does.
    public package(set) var alternative: String?
    /// The address to send from over the ``alternative``; nil where the kernel's own choice is right.
    ///
    /// Where rules go by the source (`ip rule add from ADDRESS`), a socket bound to the interface needs this address too (bind(2)).
    public package(set) var alternativeSource: IPAddress?
    /// Grows whenever connections made over an earlier path should no longer be trusted.
    public package(set) var generation: UInt64 = 0
    /// Why.
    public package(set) var reason = ReachabilityReason(
        .notMonitoring, sentence: "monitoring has not started")
    /// Whether the kernel did not answer the last question and these are earlier facts.
    public package(set) var isStale: Bool = false

    package var hasIPv4 = false
    // Whether dead legs are what makes it partial.
    package var hasDeadLegs = false
    package var hasIPv6 = false
    // What carries the alternative.
    package var alternativeMedium: Medium?
    package var isAlternativeExpensive = false
    // What makes connections made earlier worthless when it changes, besides the fields above.
    package var carrierDownCount: UInt32 = 0
    package var underlayIndex: Int32 = 0

    package init() {}

    /// A path of your own making, for a ``ReachabilityProvider`` in a test or for another source of reachability.
    ///
    /// - Parameters:
    ///   - status: `wifi` and `wired` make a usable path, `unreachable` none, `unknown` says nothing.
    ///   - interface: The egress interface.
    ///   - medium: Its kind.
    ///   - source: The source address of connections.
    ///   - gateway: The next router.
    ///   - isExpensive: Whether traffic costs money or quota.
    ///   - generation: A number that grows whenever earlier connections should no longer be trusted.
    ///   - reason: Why.
    public init(
        status: ReachabilityStatus, interface: String? = nil, medium: Medium? = nil, source: IPAddress? = nil,
        gateway: IPAddress? = nil, isExpensive: Bool = false, generation: UInt64 = 1,
        reason: ReachabilityReason? = nil
    ) {
        isOnline = status.isReachable
        instantStatus = status
        self.interface = interface
        self.medium = medium
        self.source = source
        self.gateway = gateway
        self.isExpensive = isExpensive
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
    /// The path to a name that has no address; nil where nothing can be said yet.
    ///
    /// Without a way out a name server cannot be asked, which is a fact; with one, a failure may pass.
    ///
    /// - Parameter general: The way out to anywhere.
    package static func unresolved(
        _ name: String, _ failure: NameFailure, general: ReachabilityPath
    ) -> ReachabilityPath? {
        if general.isOnline, case .temporary = failure { return nil }
        var path = ReachabilityPath()
        path.instantStatus = .unreachable
        path.alternative = general.alternative
        path.alternativeMedium = general.alternativeMedium
        path.isAlternativeExpensive = general.isAlternativeExpensive
        let sentence =
            general.isOnline ? failure.sentence : "cannot resolve \(name): \(general.reason.sentence)"
        path.reason = ReachabilityReason(.unresolved, interface: general.reason.interface, sentence: sentence)
        return path
    }

    /// A path of which nothing is known, for this reason.
    package static func unknown(_ reason: ReachabilityReason) -> ReachabilityPath {
        var path = ReachabilityPath()
        path.reason = reason
        return path
    }
}
