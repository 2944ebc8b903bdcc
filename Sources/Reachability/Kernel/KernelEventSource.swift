// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import ReachabilityCore

/// The kernel's events on the loop: route netlink, nl80211, and the end of a suspend.
///
/// Used on the loop's thread alone. It keeps no state of the network: an event is a reason to ask.
package final class KernelEventSource: EventSource {
    /// Datagrams read before the loop serves other descriptors.
    private static let batchLimit = 64

    private let reactor: Reactor
    private let routes: RouteEventSocket
    private let wireless: NL80211EventSocket?
    private let resume: ResumeDetector?
    private var deliver: (([NetworkEvent]) -> Void)?
    private var events: [NetworkEvent] = []
    private var machine = EventSocketStateMachine()
    private var timer: TimerID?
    /// Events, overruns, discarded messages and reopenings so far.
    package private(set) var counters = MonitorCounters()

    /// A source for `namespace`, else for the reactor thread's; without `resume` it reports no suspend.
    package init(
        reactor: Reactor, namespace: NamespaceEntry? = nil, receiveBufferSize: Int = 1 << 20,
        includesWireless: Bool = true, resume: ResumeDetector? = nil
    ) {
        self.reactor = reactor
        routes = RouteEventSocket(namespace: namespace, receiveBufferSize: receiveBufferSize)
        self.resume = resume
        wireless = includesWireless ? NL80211EventSocket(namespace: namespace) : nil
    }

    package var limitations: MonitorLimitations { routes.limitations }

    /// The descriptor of the route socket; nil while stopped.
    package var descriptor: Int32? { routes.descriptor }

    package var discarded: UInt64 { counters.discarded }

    package func start(deliver: @escaping ([NetworkEvent]) -> Void) throws(ReachabilityError) {
        stop()
        do throws(NetlinkError) {
            try routes.open()
        } catch {
            throw error.asReachabilityError
        }
        self.deliver = deliver
        machine.opened()
        do throws(ReactorError) {
            try watchRoutes()
        } catch {
            stop()
            throw ReachabilityError(
                .outOfResources, errno: error.errno, context: "cannot watch the netlink socket: \(error)",
                advice: "the loop has ended or no memory is left")
        }
        openWireless()
        // Without a timer descriptor the safety re-check finds what a suspend changed.
        try? resume?.start { deliver([$0]) }
    }

    package func stop() {
        deliver = nil
        if let timer { reactor.cancel(timer) }
        timer = nil
        machine.closed()
        closeRoutes()
        closeWireless()
        resume?.stop()
    }

    package func setHosts(_ hosts: [IPAddress]) { routes.setFilter(RouteFilter(hosts: hosts)) }

    // MARK: Route netlink

    private func watchRoutes() throws(ReactorError) {
        guard let descriptor = routes.descriptor else { return }
        try reactor.watch(descriptor, for: .readable) { [weak self] readiness in
            self?.routesAreReadable(isRefused: readiness.contains(.refused))
        }
    }

    /// Reads and delivers a batch; reading also clears an overrun, which shows as an error of the socket.
    private func routesAreReadable(isRefused: Bool) {
        events.removeAll(keepingCapacity: true)
        let outcome = isRefused ? .broken(errno: 0) : routes.drain(limit: Self.batchLimit, into: &events)
        counters.discarded = routes.discarded
        perform(machine.drained(outcome, hasEvents: !events.isEmpty, at: Reactor.now))
        deliverEvents()
    }

    private func perform(_ action: EventSocketStateMachine.Action) {
        switch action {
        case .listen, .ignore: break
        case .pause(let until):
            if let descriptor = routes.descriptor { reactor.change(descriptor, to: []) }
            arm(until)
        case .reopen(let instant):
            closeRoutes()
            arm(instant)
        }
    }

    private func arm(_ instant: Int64) {
        if let timer { reactor.cancel(timer) }
        timer = reactor.schedule(at: instant) { [weak self] in
            self?.timer = nil
            self?.deadlineReached()
        }
    }

    private func deadlineReached() {
        switch machine.deadlineReached() {
        case .listen: if let descriptor = routes.descriptor { reactor.change(descriptor, to: .readable) }
        case .reopen: reopen()
        case .nothing: break
        }
    }

    private func deliverEvents() {
        guard !events.isEmpty else { return }
        counters.events &+= UInt64(events.count)
        for case .overrun in events { counters.overruns &+= 1 }
        deliver?(events)
    }

    private func closeRoutes() {
        if let descriptor = routes.descriptor { reactor.unwatch(descriptor) }
        routes.close()
    }

    /// Opens a broken socket again; `reopened` makes the receiver ask everything.
    private func reopen() {
        guard deliver != nil else { return }
        do {
            try routes.open()
            try watchRoutes()
        } catch {
            perform(machine.openingFailed(at: Reactor.now))
            return
        }
        machine.opened()
        counters.reopenings &+= 1
        counters.events &+= 1
        deliver?([.reopened])
    }

    // MARK: nl80211

    private func openWireless() {
        guard let wireless else { return }
        // Without it Wi-Fi changes still show as link events, so a refusal is no error.
        do {
            try wireless.open()
            guard let descriptor = wireless.descriptor else { return }
            try reactor.watch(descriptor, for: .readable) { [weak self] readiness in
                self?.wirelessIsReadable(isRefused: readiness.contains(.refused))
            }
        } catch {
            wireless.close()
        }
    }

    private func wirelessIsReadable(isRefused: Bool) {
        guard let wireless else { return }
        events.removeAll(keepingCapacity: true)
        if isRefused || !wireless.drain(limit: Self.batchLimit, into: &events) { closeWireless() }
        deliverEvents()
    }

    private func closeWireless() {
        guard let wireless else { return }
        if let descriptor = wireless.descriptor { reactor.unwatch(descriptor) }
        wireless.close()
    }
}
