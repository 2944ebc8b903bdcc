// SPDX-License-Identifier: Apache-2.0

/// Why a path is usable or not: a code for programs and a sentence for the person who has to act.
public struct ReachabilityReason: Sendable, Hashable, CustomStringConvertible {
    /// The reason as a code.
    ///
    /// Later versions may add codes: treat unknown ones as "not usable".
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The word used in JSON and by `reach status --explain`.
        public let rawValue: String
        /// A code with this word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The word.
        public var description: String { rawValue }

        /// A usable default route.
        public static let defaultRoute = Code(rawValue: "defaultRoute")
        /// A usable route to the monitored host that is not a default route.
        public static let hostRoute = Code(rawValue: "hostRoute")
        /// The host is this machine.
        public static let local = Code(rawValue: "local")
        /// There is no route, although the interface nearest to being usable has no other fault.
        ///
        /// If that interface is switched off or has no address, its own code is the reason instead. Without
        /// an interface: there is none but loopback and those that drop all packets, or the interface of the
        /// host's zone does not exist.
        public static let noRoute = Code(rawValue: "noRoute")
        /// The route's interface has no address to send from.
        public static let noAddress = Code(rawValue: "noAddress")
        /// The only address to send from is link-local.
        public static let linkLocalOnly = Code(rawValue: "linkLocalOnly")
        /// The route's interface has no carrier, is switched off, or waits for authentication.
        public static let linkDown = Code(rawValue: "linkDown")
        /// The route's bridge or bond has no usable port.
        public static let noPorts = Code(rawValue: "noPorts")
        /// The route's interface is a port of a bridge, bond or team, which receives the replies instead.
        public static let bridgePort = Code(rawValue: "bridgePort")
        /// The route's interface drops all packets (dummy, ifb).
        public static let dropped = Code(rawValue: "dropped")
        /// A route of type `prohibit` refuses the traffic.
        public static let prohibited = Code(rawValue: "prohibited")
        /// A route of type `blackhole` drops the traffic.
        public static let blackhole = Code(rawValue: "blackhole")
        /// A route or rule of type `unreachable` refuses the traffic.
        public static let unreachableRoute = Code(rawValue: "unreachableRoute")
        /// The route leads into a tunnel, and no other path carries the tunnel.
        public static let tunnelWithoutUnderlay = Code(rawValue: "tunnelWithoutUnderlay")
        /// The monitored host's name has no address yet.
        public static let unresolved = Code(rawValue: "unresolved")
        /// Monitoring has not started, or has been stopped.
        public static let notMonitoring = Code(rawValue: "notMonitoring")
        /// The kernel refused to answer.
        public static let kernelRefused = Code(rawValue: "kernelRefused")
    }

    /// The code.
    public let code: Code
    /// The interface concerned; nil if there is none.
    public let interface: String?
    /// One sentence without a full stop, for example "eth0: no carrier".
    public var sentence: String {
        if case (nil, .link(let cause)) = (text, obstacle) { return cause.sentence(interface ?? "") }
        return text ?? ""
    }
    /// The obstacle to remove, if the code does not say it; the sentence names it too.
    package let obstacle: LinkObstacle?
    /// The sentence; nil for that of a link's obstacle, which would take 64 bytes for each of many links.
    private let text: String?

    /// A reason.
    public init(_ code: Code, interface: String? = nil, sentence: String) {
        self.init(code, interface: interface, sentence: sentence, obstacle: nil)
    }

    package init(_ code: Code, interface: String?, sentence: String, obstacle: LinkObstacle?) {
        self.code = code
        self.interface = interface
        text = sentence
        self.obstacle = obstacle
    }

    /// Packets cannot leave through the interface of that name.
    init(_ obstacle: EvaluationContext.Obstacle, of name: String) {
        code = obstacle.code
        interface = name
        text = nil
        self.obstacle = .link(obstacle.cause)
    }

    /// Whether the contents are equal.
    public static func == (a: ReachabilityReason, b: ReachabilityReason) -> Bool {
        guard a.code == b.code, a.interface == b.interface else { return false }
        if a.text == nil, b.text == nil { return a.obstacle == b.obstacle }
        return a.sentence == b.sentence
    }

    /// Hashes the compared fields.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(interface)
        hasher.combine(sentence)
    }

    /// The sentence.
    public var description: String { sentence }
}
