// SPDX-License-Identifier: Apache-2.0

import EventLoop
package import Reachability
package import ReachabilityCore
package import ServiceCore
import SessionCore

/// Answers calls about the network; forwards calls about other parts to them.
package final class StatusService {
    /// The service's identity (org.varlink.service.GetInfo).
    package struct Identity: Sendable {
        package var version: String
        package init(version: String) { self.version = version }
    }

    private let identity: Identity
    /// Evaluates the network once; a host name is looked up before, which may take long.
    let look: @Sendable (_ host: String?) throws(ReachabilityError) -> NetworkReport
    /// The number of running name lookups.
    var lookUps = 0
    private let batches: KernelEventBatches
    private let history: (any HistoryAnswering)?
    private let outbox: (any OutboxAnswering)?
    private(set) var context: ServiceContext?
    private var waits: PendingWaits?
    private var isClosing = false
    private var links: (reports: [LinkReport], batches: UInt64, at: Int64)?

    /// The maximum age of a report's links without an event: addresses can expire without one.
    private static let linkAge: Int64 = 1_000_000_000

    package init(
        identity: Identity, batches: KernelEventBatches, history: (any HistoryAnswering)? = nil,
        outbox: (any OutboxAnswering)? = nil,
        look: @escaping @Sendable (_ host: String?) throws(ReachabilityError) -> NetworkReport
    ) {
        self.identity = identity
        self.batches = batches
        self.history = history
        self.outbox = outbox
        self.look = look
    }

    func open(_ context: ServiceContext) {
        self.context = context
        let waits = PendingWaits(reactor: context.reactor) { [weak context] in
            context?.awaitsInternet = $0
        } report: { [weak self] in
            self?.report()
        } asks: { [weak context] in
            context?.wantedUplinks = $0
        }
        self.waits = waits
        batches.changed = { [weak waits] in waits?.update() }
    }

    /// Ends all waits, since the monitor has stopped.
    func prepareToClose() {
        isClosing = true
        batches.changed = nil
        waits?.close()
        waits = nil
    }

    func close() {
        prepareToClose()
        context = nil
    }

    /// The newest change; nil before the first report.
    var current: CommittedChange? { context?.current }

    func statusChanged() {
        links = nil
        waits?.stateChanged()
    }

    func internetChanged() { waits?.stateChanged() }

    /// The number of waiting calls.
    var waitCount: Int { (waits?.count ?? 0) + (outbox?.waitCount ?? 0) }

    func waitForOutbox(
        _ entry: String, timeout: Duration?, for id: ConnectionQuota.ID,
        _ answer: @escaping (VarlinkReply) -> Void
    ) {
        guard let outbox else { return answer(.unavailable("this service has no outbox")) }
        outbox.waitForEntry(entry, timeout: timeout, for: id, answer)
    }

    func followOutbox(
        _ entry: String?, lane: String?, tag: String?, for id: ConnectionQuota.ID,
        _ answer: @escaping (VarlinkReply) -> Int?
    ) {
        guard let outbox else {
            _ = answer(.unavailable("this service has no outbox"))
            return
        }
        outbox.followEntries(entry, lane: lane, tag: tag, for: id, answer)
    }

    func wait(
        _ condition: WaitCondition, _ limits: WaitLimits, for id: ConnectionQuota.ID,
        _ answer: @escaping (VarlinkReply) -> Void
    ) {
        guard let waits, current != nil else { return answer(.unavailable("no status is known yet")) }
        if condition.goal == .internet, context?.internet == nil {
            return answer(.unavailable("no server is asked (probe.url)"))
        }
        waits.add(condition, limits, for: id, answer)
    }

    /// The client has disconnected.
    func forget(_ id: ConnectionQuota.ID) {
        waits?.remove(id)
        outbox?.forget(id)
    }

    /// The current state with current links; nil before the first report.
    func report() -> Report? {
        guard let context, let change = context.current else { return nil }
        var report = change.state
        guard !isClosing else { return report }
        // Values that cause no update, such as signal strength, are in the manager's path.
        report.path = context.manager.path
        report.boot = context.bootClock()
        report.links = currentLinks() ?? report.links
        return report
    }

    private func currentLinks() -> [LinkReport]? {
        let now = Reactor.now
        if let links, links.batches == batches.count, now - links.at < Self.linkAge { return links.reports }
        guard let reports = try? look(nil).links else { return nil }
        links = (reports, batches.count, now)
        return reports
    }

    /// Answers calls that do not depend on the connection.
    func answer(_ request: ServiceRequest, _ answer: @escaping (VarlinkReply) -> Void) {
        switch request {
        case .info: answer(VarlinkReply(info))
        case .describe(let interface): answer(Self.description(of: interface))
        case .status:
            guard let report = report() else { return answer(.unavailable("no status is known yet")) }
            answer(VarlinkReply(report))
        case .explain(let host): explain(host, answer)
        case .hint(let interface, let metered, let isRoaming):
            answer(setHint(interface, metered, isRoaming))
        case .history(let since, let limit):
            guard let history else { return answer(.unavailable(VarlinkReply.noHistoryReason)) }
            history.answerHistory(since: since, limit: limit, answer)
        case .outbox(let request):
            guard let outbox else { return answer(.unavailable("this service has no outbox")) }
            outbox.answerOutbox(request, answer)
        // Handled by the connection's server.
        case .monitor, .wait: answer(.unavailable("not here"))
        }
    }

    private func setHint(_ interface: String, _ metered: Metered?, _ isRoaming: Bool?) -> VarlinkReply {
        guard let context, !isClosing else { return .unavailable("the service is ending") }
        do throws(ReachabilityError) {
            switch try context.manager.setHint(of: interface, metered: metered, isRoaming: isRoaming) {
            case .taken: break
            case .noSuchInterface: return .noSuchInterface(interface)
            case .tooMany: return .limit("there are \(InterfaceHints.limit) hints already")
            }
        } catch {
            return .unavailable(error.description)
        }
        links = nil
        let words = [
            metered.map { "metered \($0)" }, isRoaming.map { $0 ? "roaming" : "not roaming" },
        ].compactMap { $0 }
        context.log(
            .info,
            "\(SafeText.clean(interface, unicode: true)): hint: \(words.isEmpty ? "none" : words.joined(separator: ", "))"
        )
        return VarlinkReply()
    }

    private var info: JSONValue {
        [
            "vendor": "Reach", "product": "reach", "version": .string(identity.version),
            "url": "https://varlink.org",
            "interfaces": ["org.varlink.service", .string(ServiceInterface.name)],
        ]
    }

    private static func description(of interface: String) -> VarlinkReply {
        switch interface {
        case ServiceInterface.name: VarlinkReply(["description": .string(ServiceInterface.text)])
        case IntrospectionInterface.name: VarlinkReply(["description": .string(IntrospectionInterface.text)])
        default: .interfaceNotFound(interface)
        }
    }
}

/// Answers queries about the history; on the loop's thread.
package protocol HistoryAnswering: AnyObject {
    /// Answers `GetHistory`, now or later, once.
    func answerHistory(since: WallTime?, limit: Int, _ answer: @escaping (VarlinkReply) -> Void)
}

/// Answers calls about the outbox, on the loop's thread; a protocol, so that the status stands without one.
package protocol OutboxAnswering: AnyObject {
    /// Answers a call about the outbox, now or later, once; the caller's permission is checked.
    func answerOutbox(_ request: OutboxCall, _ answer: @escaping (VarlinkReply) -> Void)

    /// Answers when the entry has left or become a dead letter, or at the time limit; once.
    func waitForEntry(
        _ entry: String, timeout: Duration?, for id: ConnectionQuota.ID,
        _ answer: @escaping (VarlinkReply) -> Void)

    /// Answers with each change of an entry, or of those of a lane or with a tag, until `answer` returns nil;
    /// else it returns the bytes that the client has not read yet.
    func followEntries(
        _ entry: String?, lane: String?, tag: String?, for id: ConnectionQuota.ID,
        _ answer: @escaping (VarlinkReply) -> Int?)

    /// The client has disconnected: ends its wait.
    func forget(_ id: ConnectionQuota.ID)

    /// The number of waiting calls.
    var waitCount: Int { get }
}

/// Records events that need not lead to an update: a link without a path came or went.
package final class KernelEventBatches {
    /// Called after each batch of events.
    var changed: (() -> Void)?
    /// The number of batches.
    private(set) var count: UInt64 = 0

    package init() {}

    func record(_ item: RecordedItem) {
        guard case .events = item else { return }
        count += 1
        changed?()
    }
}
