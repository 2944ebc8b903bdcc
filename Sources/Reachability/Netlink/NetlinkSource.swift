// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import ReachabilityCore

/// Events from the kernel, on the loop.
///
/// Used on the loop's thread alone. It keeps no state of the network: an event is a reason to ask.
package final class NetlinkSource: EventSource {
    /// So many datagrams are read before the loop gets its turn again.
    private static let batchLimit = 64

    private let reactor: Reactor
    private let feed: RouteFeed
    private let wireless: WirelessFeed?
    private var deliver: (([NetworkEvent]) -> Void)?
    private var events: [NetworkEvent] = []
    private var machine = FeedStateMachine()
    private var timer: TimerID?
    /// What happened so far: events, overruns, discarded, reopenings.
    package private(set) var counters = MonitorCounters()

    /// A source that reads from `namespace`, or from the network namespace of the reactor's thread.
    ///
    /// - Parameter watchesWireless: whether nl80211's news come as `wirelessChanged`; no matter without Wi-Fi.
    package init(
        reactor: Reactor, namespace: NamespaceEntry? = nil, receiveBufferSize: Int = 1 << 20,
        watchesWireless: Bool = true
    ) {
        self.reactor = reactor
        feed = RouteFeed(namespace: namespace, receiveBufferSize: receiveBufferSize)
        wireless = watchesWireless ? WirelessFeed(namespace: namespace) : nil
    }

    package var limitations: MonitorLimitations { feed.limitations }

    /// The descriptor of the route socket; nil while stopped.
    package var descriptor: Int32? { feed.descriptor }

    package var discarded: UInt64 { counters.discarded }

    package func start(deliver: @escaping ([NetworkEvent]) -> Void) throws(ReachabilityError) {
        stop()
        do throws(NetlinkError) {
            try feed.open()
        } catch {
            throw error.asReachabilityError
        }
        self.deliver = deliver
        machine.opened()
        do throws(ReactorError) {
            try watchFeed()
        } catch {
            stop()
            throw ReachabilityError(
                .outOfResources, errno: error.errno, context: "cannot watch the netlink socket: \(error)",
                advice: "the loop has ended or no memory is left")
        }
        openWireless()
    }

    package func stop() {
        deliver = nil
        if let timer { reactor.cancel(timer) }
        timer = nil
        machine.closed()
        closeFeed()
        closeWireless()
    }

    package func watch(_ destinations: [IPAddress]) {
        feed.setFilter(RouteFilter(hosts: destinations))
    }

    // MARK: Route netlink

    private func watchFeed() throws(ReactorError) {
        guard let descriptor = feed.descriptor else { return }
        try reactor.watch(descriptor, for: .readable) { [weak self] readiness in
            self?.feedIsReady(isRefused: readiness.contains(.refused))
        }
    }

    /// Reads a batch and hands it on.
    ///
    /// An overrun shows as an error of the socket and as one failing read; both are dealt with by reading.
    private func feedIsReady(isRefused: Bool) {
        events.removeAll(keepingCapacity: true)
        let outcome = isRefused ? .broken(errno: 0) : feed.drain(limit: Self.batchLimit, into: &events)
        counters.discarded = feed.discarded
        perform(machine.drained(outcome, hasEvents: !events.isEmpty, at: Reactor.now))
        handOn()
    }

    private func perform(_ action: FeedStateMachine.Action) {
        switch action {
        case .listen, .ignore: break
        case .rest(let until):
            if let descriptor = feed.descriptor { reactor.change(descriptor, to: []) }
            arm(until)
        case .reopen(let instant):
            closeFeed()
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
        case .listen: if let descriptor = feed.descriptor { reactor.change(descriptor, to: .readable) }
        case .reopen: reopen()
        case .nothing: break
        }
    }

    private func handOn() {
        guard !events.isEmpty else { return }
        counters.events &+= UInt64(events.count)
        for case .overrun in events { counters.overruns &+= 1 }
        deliver?(events)
    }

    private func closeFeed() {
        if let descriptor = feed.descriptor { reactor.unwatch(descriptor) }
        feed.close()
    }

    /// A broken socket is opened again with the same filter and groups; then everything has to be asked.
    private func reopen() {
        guard deliver != nil else { return }
        do {
            try feed.open()
            try watchFeed()
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
        // Without it Wi-Fi shows by its link events; so a refusal is not worth a word.
        do {
            try wireless.open()
            guard let descriptor = wireless.descriptor else { return }
            try reactor.watch(descriptor, for: .readable) { [weak self] readiness in
                self?.wirelessIsReady(isRefused: readiness.contains(.refused))
            }
        } catch {
            wireless.close()
        }
    }

    private func wirelessIsReady(isRefused: Bool) {
        guard let wireless else { return }
        events.removeAll(keepingCapacity: true)
        if isRefused || !wireless.drain(limit: Self.batchLimit, into: &events) { closeWireless() }
        handOn()
    }

    private func closeWireless() {
        guard let wireless else { return }
        if let descriptor = wireless.descriptor { reactor.unwatch(descriptor) }
        wireless.close()
    }
}
