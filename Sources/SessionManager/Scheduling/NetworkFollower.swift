// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import SessionCore

/// Follows a reachability provider, and hands on what it reports, on the loop's thread.
final class NetworkFollower {
    private let reactor: Reactor
    private let report: (NetworkFacts) -> Void
    private var observation: ReachabilityObservation?
    /// Kept alive while it is followed.
    private var provider: (any ReachabilityProvider)?
    private(set) var isFollowing = false
    private var isRequired = false
    /// Whether the shared manager was left to the program, which had not started it.
    private var isIdle = false
    /// Whether dead connections are found by the engine itself, which watches their paths.
    private(set) var watchesConnections = false

    /// The detour with what the provider's configuration and hints say of its cost.
    func priced(_ detour: Detour) -> Detour {
        guard let manager = provider as? ReachabilityManager else { return detour }
        let cost = manager.costs.cost(
            of: detour.uplink, network: detour.traits.ssid,
            kind: NetworkCost(
                detour.traits.isExpensive ? .guessYes : .guessNo, isConstrained: detour.traits.isConstrained))
        var detour = detour
        detour.traits.isExpensive = cost.isExpensive
        detour.traits.isConstrained = cost.isConstrained
        return detour
    }

    init(on reactor: Reactor, report: @escaping (NetworkFacts) -> Void) {
        self.reactor = reactor
        self.report = report
    }

    func close() {
        observation?.cancel()
        observation = nil
        provider = nil
    }

    /// Follows another provider; what it knows already is reported at once.
    func follow(_ settings: RequestQueue.Settings) {
        isFollowing = true
        close()
        isIdle = false
        let source = settings.follows
        switch source {
        case .shared:
            let shared = settings.sharedManager()
            if settings.startsMonitoring { shared.startMonitoring() }
            isIdle = !shared.isMonitoring && shared.failure == nil
            provider = shared
        case .none: provider = nil
        case .host(let name): provider = manager(of: MonitorTarget(name))
        case .requiring(let network):
            var configuration = ReachabilityConfiguration()
            configuration.requirement = network
            provider = manager(of: .general, configuration)
        case .provider(let other): provider = other
        }
        isRequired = source.isRequired
        // Its first report comes a moment later, and must hold for the very first task.
        if let (status, path) = provider?.currentReachability() { report(facts(status, path)) }
        let me = LoopBound(self, to: reactor)
        guard let manager = provider as? ReachabilityManager else {
            watchesConnections = false
            observation = provider?.observeReachability { update in me.perform { $0.received(update) } }
            return
        }
        watchesConnections = true
        let identity = ObjectIdentifier(manager)
        // On the loop: a change is known before anything else is sent.
        observation = manager.observeInline(
            { update in
                if me.reactor.isCurrent {
                    me.here { $0.received(update) }
                } else {
                    me.perform { $0.received(update) }
                }
            },
            onStop: { me.perform { $0.monitoringStopped(identity) } },
            onClose: {})
    }

    /// A manager of its own, which runs on this loop: a change is known before anything else is sent.
    private func manager(
        of target: MonitorTarget, _ configuration: ReachabilityConfiguration = .init()
    ) -> ReachabilityManager {
        var environment = MonitorEnvironment.kernel
        environment.reactor = { [reactor] () throws(ReachabilityError) -> Reactor in reactor }
        let manager = ReachabilityManager(target, configuration, .own, environment)
        manager.startMonitoring()
        return manager
    }

    /// Why nothing is known of the network, in the words of a program; nil where no provider is followed.
    var ignorance: String? {
        guard let provider else { return nil }
        if isIdle, (provider as? ReachabilityManager)?.isMonitoring == false {
            return "ReachabilityManager.shared was not started, and the queue's startsMonitoring is false"
        }
        return provider.currentReachability().path.reason.sentence
    }

    private func received(_ update: ReachabilityUpdate) { report(facts(update.status, update.path)) }

    private func facts(_ status: ReachabilityStatus, _ path: ReachabilityPath) -> NetworkFacts {
        var facts = NetworkFacts(status, path)
        facts.isRequired = isRequired
        // Without an interface to bind to, requests would go over another network.
        if isRequired, facts.interface == nil { facts.standing = .offline }
        return facts
    }

    private func monitoringStopped(_ identity: ObjectIdentifier) {
        guard let current = provider as? ReachabilityManager, ObjectIdentifier(current) == identity,
            !current.isMonitoring
        else { return }
        report(isRequired ? facts(.unknown, .notMonitoring) : .unknown)
    }
}

extension NetworkFacts {
    /// What a report of a provider says.
    ///
    /// The path counts, since it says a loss at once and the status only after a while; the status counts
    /// where the path says nothing.
    fileprivate init(_ status: ReachabilityStatus, _ path: ReachabilityPath) {
        let word = path.instantStatus == .unknown ? status : path.instantStatus
        let isOnline = path.instantStatus == .unknown ? status.isReachable : path.isOnline
        // A monitor that is stopped, or that the kernel refuses, knows nothing.
        let isUnknown = status == .unknown && !isOnline && path.instantStatus != .unreachable
        self.init(isUnknown ? .unknown : isOnline ? .online : .offline, sentence: path.reason.sentence)
        isWiFi = word == .wifi
        let isModem = path.medium == .cellular || path.medium == .other
        // What carries a tunnel is not said but for its cost.
        isWired = word == .wired && !isModem && !(path.medium == .tunnel && path.isExpensive)
        isExpensive = path.isExpensive
        isConstrained = path.isConstrained
        interface = path.interface
        alternative = path.alternative
        if let medium = path.alternativeMedium {
            isAlternativeWiFi = medium == .wifi
            isAlternativeWired = !isAlternativeWiFi && medium != .cellular && medium != .other
            isAlternativeExpensive = path.isAlternativeExpensive
            isAlternativeConstrained = path.isAlternativeConstrained
        }
        generation = path.generation
    }
}
