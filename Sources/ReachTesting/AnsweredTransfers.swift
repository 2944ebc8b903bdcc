// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import SessionCore
import SessionManager

/// What answers requests in a server's place.
public typealias Answering = @Sendable (SentRequest) async throws -> Answer

/// Carries out transfers by answers of a test, without a socket and without libcurl; on the loop's thread.
///
/// Slots of origins, suspension and the order of calls are those of libcurl's engine.
final class AnsweredTransfers: TransferCarrier {
    let reactor: Reactor
    let turn: EngineTurn
    let answering: Answering
    let sessionPace: SessionPace?
    private let hosts: HostAdmission
    private var exchanges: [ObjectIdentifier: AnsweredExchange] = [:]
    private var attempts = AttemptCounts()
    private var jar = AnsweredCookies()
    private var hook: HookID?
    private var isClosed = false

    init(reactor: Reactor, configuration: SessionConfiguration, answering: @escaping Answering) {
        self.reactor = reactor
        self.answering = answering
        sessionPace = SessionPace(configuration)
        turn = EngineTurn(reactor: reactor)
        hosts = HostAdmission(limit: configuration.maximumConnectionsPerHost)
        turn.carrier = self
        hook = reactor.beforeWait { [unowned self] in work() }
    }

    deinit { close() }

    private func work() {
        while turn.runDeferred() {}
        turn.resumeWaiters()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        turn.close()
        if let hook { reactor.removeHook(hook) }
        for exchange in exchanges.values {
            exchange.leave()
            exchange.transfer.abandon()
        }
        exchanges = [:]
    }

    // MARK: What tasks ask for

    func origin(of address: String) -> (origin: String, isSecure: Bool) { hosts.origin(of: address) }

    func start(_ transfer: Transfer) {
        if hosts.admit(transfer) { begin(transfer) }
    }

    func cancel(_ transfer: Transfer) {
        transfer.abandon()
        hosts.leaveQueue(transfer)
        turn.outsideLibcurl { [self] in release(transfer) }
    }

    func fail(_ transfer: Transfer, _ error: SessionError) {
        turn.outsideLibcurl { [self] in
            guard let exchange = exchanges[ObjectIdentifier(transfer)] else { return }
            end(exchange, error)
        }
    }

    func setSuspended(_ transfer: Transfer, _ isSuspended: Bool) {
        guard transfer.isSuspended != isSuspended else { return }
        transfer.isSuspended = isSuspended
        turn.outsideLibcurl { [self] in
            guard transfer.isUnderWay, transfer.isSuspended == isSuspended else { return }
            if isSuspended {
                hosts.leaveQueue(transfer)
                exchanges[ObjectIdentifier(transfer)]?.suspend()
                proceed(hosts.release(transfer))
            } else if !transfer.hasSlot, !transfer.waitsForSlot, hosts.admit(transfer) {
                proceed([transfer])
            }
        }
    }

    func resume(_ transfer: Transfer) {
        guard transfer.hasSlot, !transfer.isSuspended else { return }
        turn.outsideLibcurl { [self] in
            transfer.resumeBody()
            exchanges[ObjectIdentifier(transfer)]?.proceed()
        }
    }

    func recordVersion(of transfer: Transfer) {
        guard hosts.learns(from: transfer) else { return }
        turn.outsideLibcurl { [self] in proceed(hosts.multiplexes(transfer)) }
    }

    func metrics(of transfer: Transfer) -> TransferMetrics? {
        exchanges[ObjectIdentifier(transfer)]?.metrics
    }

    // MARK: Cookies

    func cookies(for transfer: Transfer) -> String? {
        transfer.request.options.handlesCookies ? jar.field(for: transfer.request.url) : nil
    }

    func store(_ cookies: [String], from transfer: Transfer) {
        guard transfer.request.options.handlesCookies else { return }
        for cookie in cookies { jar.store(cookie, from: transfer.request.url) }
    }

    // MARK: From the slot to the end

    private func proceed(_ transfers: [Transfer]) {
        for transfer in transfers {
            if let exchange = exchanges[ObjectIdentifier(transfer)] {
                exchange.resume()
            } else {
                begin(transfer)
            }
        }
    }

    private func begin(_ transfer: Transfer) {
        let exchange = AnsweredExchange(transfer, by: self, attempt: attempts.next(of: transfer))
        exchanges[ObjectIdentifier(transfer)] = exchange
        // Later, since the caller of `start` is not ready for the end.
        turn.later { [weak exchange] in exchange?.begin() }
    }

    /// An exchange is over; the next of its origin begins.
    func end(_ exchange: AnsweredExchange, _ error: SessionError?) {
        let (transfer, metrics) = (exchange.transfer, exchange.metrics)
        guard transfer.isUnderWay else { return }
        release(transfer)
        transfer.finish(error, metrics: metrics)
    }

    private func release(_ transfer: Transfer) {
        exchanges.removeValue(forKey: ObjectIdentifier(transfer))?.leave()
        hosts.leaveQueue(transfer)
        proceed(hosts.release(transfer))
    }
}

/// How often each task has sent which request.
private struct AttemptCounts {
    private struct Entry {
        weak var task: SessionTask?
        var counts: [String: Int] = [:]
    }

    private var entries: [Int: Entry] = [:]

    mutating func next(of transfer: Transfer) -> Int {
        guard let task = transfer.task else { return 1 }
        if entries.count > 64 {
            entries = entries.filter { $0.value.task.map { $0.state != .completed } ?? false }
        }
        let name = "\(transfer.request.method.rawValue) \(transfer.request.url.absoluteString)"
        var entry = entries[task.identifier] ?? Entry(task: task)
        let count = (entry.counts[name] ?? 0) + 1
        entry.counts[name] = count
        entries[task.identifier] = entry
        return count
    }
}
