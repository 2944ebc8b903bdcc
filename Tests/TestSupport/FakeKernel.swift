// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import Reachability
package import ReachabilityCore
import Synchronization

/// A kernel in memory for a whole manager: a network that a test changes, and its events.
package final class FakeKernel: Sendable {
    private struct State {
        var network: FakeNetwork
        var failure: ReachabilityError?
        var onOpen: (@Sendable (FakeKernel) -> Void)?
        var resolutions:
            [(name: String, answer: @Sendable (Result<[ReachabilityDestination], NameFailure>) -> Void)] = []
        var hosts: [IPAddress] = []
        var sourceFailure: ReachabilityError?
        var limitations: MonitorLimitations = []
        var deliver: (@Sendable ([NetworkEvent]) -> Void)?
    }

    private let state: Mutex<State>
    private let reactor: Reactor

    package init(_ network: FakeNetwork, reactor: Reactor) {
        state = Mutex(State(network: network))
        self.reactor = reactor
    }

    /// The environment for a manager on this kernel.
    package var environment: MonitorEnvironment {
        MonitorEnvironment(
            reactor: { [reactor] () throws(ReachabilityError) -> Reactor in reactor },
            makeSource: { reactor, _ in FakeSource(kernel: self, reactor: reactor) },
            makeKernel: { _ in FakeAnswers(kernel: self) },
            resolver: FakeResolver(kernel: self))
    }

    /// A manager on this kernel.
    package func manager(
        _ subject: MonitorTarget = .general, _ configuration: ReachabilityConfiguration = .init(),
        queue: DeliveryQueue = .own
    ) -> ReachabilityManager {
        ReachabilityManager(subject, configuration, queue, environment)
    }

    /// Changes the network and delivers the event.
    package func change(
        _ event: NetworkEvent = .ruleChanged(.ipv4), _ body: @Sendable (inout FakeNetwork) -> Void
    ) {
        state.withLock { body(&$0.network) }
        deliver([event])
    }

    /// Changes the network silently.
    package func changeSilently(_ body: @Sendable (inout FakeNetwork) -> Void) {
        state.withLock { body(&$0.network) }
    }

    /// Delivers events on the loop; the monitor handles them before later work of the loop.
    package func deliver(_ events: [NetworkEvent]) {
        guard let deliver = state.withLock({ $0.deliver }) else { return }
        reactor.perform { deliver(events) }
    }

    /// Makes every question fail with this error; nil ends it.
    package func refuse(_ error: ReachabilityError?) { state.withLock { $0.failure = error } }

    /// Makes the next opening of the event source fail; nil ends it.
    package func refuseEvents(_ error: ReachabilityError?) { state.withLock { $0.sourceFailure = error } }

    /// Sets limitations of the events, which the monitor detects with the next event.
    package func limit(_ limitations: MonitorLimitations) { state.withLock { $0.limitations = limitations } }

    /// Runs `body` when a monitor has opened the events and has not evaluated yet.
    package func whenOpened(_ body: @escaping @Sendable (FakeKernel) -> Void) {
        state.withLock { $0.onOpen = body }
    }

    /// The names requested from the resolver, in order.
    package let requestedNames = EventLog<String>()
    /// The names requested from the resolver and not answered yet.
    package var pendingNames: [String] { state.withLock { $0.resolutions.map(\.name) } }
    /// The addresses the filter lets through.
    package var hosts: [IPAddress] { state.withLock { $0.hosts } }
    /// Whether a monitor has opened the events.
    package var isListening: Bool { state.withLock { $0.deliver != nil } }

    /// Answers the oldest request to the resolver.
    package func resolve(_ result: Result<[ReachabilityDestination], NameFailure>) {
        let answer = state.withLock { state in
            state.resolutions.isEmpty ? nil : state.resolutions.removeFirst().answer
        }
        answer?(result)
    }

    fileprivate func answers(to questions: [KernelQuestion]) throws(ReachabilityError) -> [KernelAnswer] {
        let (network, failure) = state.withLock { state in
            (state.network, state.failure)
        }
        if let failure { throw failure }
        return questions.map(network.answer)
    }

    fileprivate func open(_ deliver: @escaping @Sendable ([NetworkEvent]) -> Void) throws(ReachabilityError) {
        let failure = state.withLock { state -> ReachabilityError? in
            if let failure = state.sourceFailure { return failure }
            state.deliver = deliver
            return nil
        }
        if let failure { throw failure }
        state.withLock { $0.onOpen }?(self)
    }

    fileprivate var limitations: MonitorLimitations { state.withLock { $0.limitations } }

    fileprivate func closeSource() {
        // A real resolver answers in the end; an unanswered request would retain the monitor for ever.
        let unanswered = state.withLock { state in
            state.deliver = nil
            defer { state.resolutions = [] }
            return state.resolutions
        }
        withExtendedLifetime(unanswered) {}
    }

    fileprivate func setHosts(_ addresses: [IPAddress]) { state.withLock { $0.hosts = addresses } }

    fileprivate func ask(
        _ name: String, _ answer: @escaping @Sendable (Result<[ReachabilityDestination], NameFailure>) -> Void
    ) {
        state.withLock { $0.resolutions.append((name, answer)) }
        requestedNames.append(name)
    }
}

private final class FakeSource: EventSource {
    private let kernel: FakeKernel
    private let reactor: Reactor
    private let inbox = Inbox()

    init(kernel: FakeKernel, reactor: Reactor) {
        self.kernel = kernel
        self.reactor = reactor
    }

    var discarded: UInt64 { 0 }
    var limitations: MonitorLimitations { kernel.limitations }

    func start(deliver: @escaping ([NetworkEvent]) -> Void) throws(ReachabilityError) {
        inbox.deliver = deliver
        try kernel.open { [inbox] events in inbox.deliver?(events) }
    }

    func stop() {
        inbox.deliver = nil
        kernel.closeSource()
    }

    func setHosts(_ hosts: [IPAddress]) { kernel.setHosts(hosts) }
}

/// Passes the closure to the loop's thread, the only one that uses it; unchecked for that reason.
private final class Inbox: @unchecked Sendable {
    var deliver: (([NetworkEvent]) -> Void)?
}

private final class FakeAnswers: KernelQuerying {
    private let kernel: FakeKernel
    init(kernel: FakeKernel) { self.kernel = kernel }
    func answers(to questions: [KernelQuestion]) throws(ReachabilityError) -> [KernelAnswer] {
        try kernel.answers(to: questions)
    }
    let cache = KernelCache()
    func handle(_ events: [NetworkEvent]) {}
    func forgetRoutes() {}
}

private struct FakeResolver: NameResolving {
    let kernel: FakeKernel
    func resolve(
        _ name: String, in namespace: String?,
        _ completion: @escaping @Sendable (Result<[ReachabilityDestination], NameFailure>) -> Void
    ) {
        kernel.ask(name, completion)
    }
}
