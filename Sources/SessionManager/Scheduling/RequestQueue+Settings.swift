// SPDX-License-Identifier: Apache-2.0

package import Reachability
public import ReachabilityCore
public import SessionCore

/// Which provider a queue follows.
public enum NetworkSource: Sendable {
    /// `ReachabilityManager.shared`, which watches the general way out.
    ///
    /// The first queue that follows it starts it with its first task, unless
    /// ``RequestQueue/Settings/startsMonitoring`` is false. Nothing stops it but the program.
    case shared
    /// A manager of the queue's own for one host, for instance a gateway on the link which no default route
    /// leads to; it is started with the first task.
    case host(String)
    /// A network that is asked for, such as the modem, whether the kernel prefers it or not.
    ///
    /// Requests wait while it has no path. They are bound to its interface (SO_BINDTODEVICE, socket(7)) while
    /// it has one, and never go over another network. A manager of the queue's own follows it.
    case requiring(NetworkRequirement)
    /// Any other; the queue does not start it.
    ///
    /// A manager that requires a network binds requests as `requiring` does.
    case provider(any ReachabilityProvider)
    /// No provider: the network never holds anything.
    case none

    func isSame(as other: NetworkSource) -> Bool {
        switch (self, other) {
        case (.shared, .shared), (.none, .none): true
        case (.host(let one), .host(let another)): one == another
        case (.requiring(let one), .requiring(let another)): one == another
        case (.provider(let one), .provider(let another)): one as AnyObject === another as AnyObject
        default: false
        }
    }

    /// Whether requests are bound to the network that it reports.
    var isRequired: Bool {
        switch self {
        case .requiring: true
        case .provider(let provider): (provider as? ReachabilityManager)?.configuration.requirement != nil
        case .shared, .host, .none: false
        }
    }
}

extension RequestQueue {
    /// What may be set at a queue; see the members of the queue with the same names.
    public struct Settings: Sendable, Configurable {
        /// The provider of the network's status.
        public var follows = NetworkSource.shared
        /// Whether the queue starts `ReachabilityManager.shared` where it follows that; yes.
        ///
        /// With false it is the program that starts it: until then nothing is known of the network, and no
        /// task waits for it.
        public var startsMonitoring = true
        /// How many tasks run at most; nil for no limit.
        public var maximumActiveRequests: Int?
        /// How many tasks run at most with one origin; nil for no limit.
        public var maximumRequestsPerHost: Int?
        /// How long the network may hold a task at a stretch; nil for as long as it takes.
        public var offlineLimit: Duration?
        /// Whether transfers are bound to another interface while the kernel's choice is dead.
        public var rescue = RescuePolicy.automatic
        /// Whether requests may use a network that costs money or quota.
        public var allowsExpensiveNetwork = true
        /// Whether requests may use a network on which data is to be saved.
        public var allowsConstrainedNetwork = true
        /// Whether a request whose server's certificate a wrong clock makes invalid waits until the clock is
        /// set.
        public var waitsForClock = true
        /// The manager that `shared` means.
        package var sharedManager: @Sendable () -> ReachabilityManager = { .shared }
        /// How the clock is looked at.
        package var clock = ClockCalls.system
        /// How those that waited start when the network is back.
        public var ramp = RequestRamp()
        /// How long a path has to last after a loss before anything starts; 100 ms.
        public var settleTime = Duration.milliseconds(100)
        /// The same after three losses within two seconds; 500 ms.
        public var flapSettleTime = Duration.milliseconds(500)

        /// The defaults.
        public init() {}

        /// Whether transfers may go over another interface than the kernel's choice.
        var rescues: Bool { rescue == .automatic && !follows.isRequired }
    }
}

extension RequestQueue.Settings: Codable {
    private enum CodingKeys: String, CodingKey {
        case follows, host, startsMonitoring, maximumActiveRequests, maximumRequestsPerHost, offlineLimit,
            rescue,
            allowsExpensiveNetwork, allowsConstrainedNetwork, waitsForClock, ramp, settleTime, flapSettleTime
    }

    /// Reads what ``encode(to:)`` wrote.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        switch try values.decode(String.self, forKey: .follows) {
        case "shared": follows = .shared
        case "host": follows = .host(try values.decode(String.self, forKey: .host))
        case "nobody": follows = .none
        case "interface": follows = .requiring(.interface(try values.decode(String.self, forKey: .host)))
        case "medium":
            let word = try values.decode(String.self, forKey: .host)
            guard let medium = NetworkRequirement.Medium(rawValue: word) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .host, in: values, debugDescription: "\(word) is no medium")
            }
            follows = .requiring(.medium(medium))
        case let word:
            throw DecodingError.dataCorruptedError(
                forKey: .follows, in: values,
                debugDescription: "\(word) is none of shared, host, interface, medium, nobody")
        }
        startsMonitoring = try values.decodeIfPresent(Bool.self, forKey: .startsMonitoring) ?? true
        maximumActiveRequests = try values.decodeIfPresent(Int.self, forKey: .maximumActiveRequests)
        maximumRequestsPerHost = try values.decodeIfPresent(Int.self, forKey: .maximumRequestsPerHost)
        offlineLimit = try values.decodeIfPresent(Duration.self, forKey: .offlineLimit)
        rescue = try values.decode(RescuePolicy.self, forKey: .rescue)
        allowsExpensiveNetwork =
            try values.decodeIfPresent(Bool.self, forKey: .allowsExpensiveNetwork) ?? true
        allowsConstrainedNetwork =
            try values.decodeIfPresent(Bool.self, forKey: .allowsConstrainedNetwork) ?? true
        waitsForClock = try values.decodeIfPresent(Bool.self, forKey: .waitsForClock) ?? true
        ramp = try values.decode(RequestRamp.self, forKey: .ramp)
        settleTime = try values.decode(Duration.self, forKey: .settleTime)
        flapSettleTime = try values.decode(Duration.self, forKey: .flapSettleTime)
    }

    /// Writes them.
    ///
    /// - Throws: `EncodingError` where another provider is followed: it could not be found again.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch follows {
        case .shared: try values.encode("shared", forKey: .follows)
        case .none: try values.encode("nobody", forKey: .follows)
        case .host(let name):
            try values.encode("host", forKey: .follows)
            try values.encode(name, forKey: .host)
        case .requiring(let network):
            if case .medium = network {
                try values.encode("medium", forKey: .follows)
            } else {
                try values.encode("interface", forKey: .follows)
            }
            try values.encode(network.description, forKey: .host)
        case .provider(let provider):
            throw EncodingError.invalidValue(
                provider,
                EncodingError.Context(
                    codingPath: values.codingPath + [CodingKeys.follows],
                    debugDescription: "a provider of one's own cannot be written down"))
        }
        try values.encode(startsMonitoring, forKey: .startsMonitoring)
        try values.encodeIfPresent(maximumActiveRequests, forKey: .maximumActiveRequests)
        try values.encodeIfPresent(maximumRequestsPerHost, forKey: .maximumRequestsPerHost)
        try values.encodeIfPresent(offlineLimit, forKey: .offlineLimit)
        try values.encode(rescue, forKey: .rescue)
        try values.encode(allowsExpensiveNetwork, forKey: .allowsExpensiveNetwork)
        try values.encode(allowsConstrainedNetwork, forKey: .allowsConstrainedNetwork)
        try values.encode(waitsForClock, forKey: .waitsForClock)
        try values.encode(ramp, forKey: .ramp)
        try values.encode(settleTime, forKey: .settleTime)
        try values.encode(flapSettleTime, forKey: .flapSettleTime)
    }
}
