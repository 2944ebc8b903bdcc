// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Outbox
import OutboxCore
import ReachabilityCore
package import ServiceCore
import SessionManager

/// The service's outbox: it is the process that delivers, and answers what clients ask of it.
///
/// The outbox works on a thread of its own; here is only the way to it and back.
package final class OutboxKeeper: ServiceComponent, OutboxAnswering {
    package let name = "outbox"
    /// The folder in the state directory.
    package static let folderName = "outbox"

    enum Phase {
        /// The calls that came meanwhile.
        case opening([(OutboxCall, Answer)])
        case open(RequestOutbox)
        case closed(reason: String)
    }

    /// Carries an answer's way back to the loop.
    final class Answer {
        let give: (VarlinkReply) -> Void
        init(_ give: @escaping (VarlinkReply) -> Void) { self.give = give }
    }

    private let configuration: OutboxConfiguration
    /// What became of deliveries since the start.
    private(set) var transfers = ServiceMetrics.Transfers()
    /// A thread for what is asked of the outbox: it writes bodies to the disk on the asker's.
    ///
    /// The runtime's own threads would do as well, but for their pool, which looks after itself once a second for ever after.
    private(set) var executor: LoopTaskExecutor?
    private(set) var phase = Phase.closed(reason: "the service is not running")
    private(set) var context: ServiceContext?
    /// Who waits for the end of a request.
    var waiters: [ClientLedger.ID: Waiter] = [:]
    /// What is in it, counted after the last events.
    private var counts: OutboxCounts?
    private var isCounting = false
    private var mayHaveChanged = false
    /// The end that was asked for while it was being opened.
    private var end: (() -> Void)?
    /// The limits that a configuration which was read again has set.
    private var limits: OutboxLimits?

    init(_ settings: ServiceConfiguration.Outbox = .init()) {
        var configuration = OutboxConfiguration()
        configuration.limits = OutboxLimits(settings)
        self.configuration = configuration
    }

    package func start(_ context: ServiceContext) throws(ServiceError) {
        let executor: LoopTaskExecutor
        do throws(ReactorError) { executor = LoopTaskExecutor(try Reactor(name: "reach-calls")) } catch {
            throw ServiceError("\(error)")
        }
        self.executor = executor
        self.context = context
        phase = .opening([])
        let here = LoopBound(self, to: context.reactor)
        let folder = context.stateDirectory + "/" + Self.folderName
        let monitor = context.manager
        let configuration = configuration
        Task(executorPreference: executor) {
            do {
                let outbox = try await RequestOutbox(at: folder, configuration: configuration) { event in
                    here.perform { $0.happened(event) }
                }
                var queue = RequestQueue.Settings()
                queue.follows = .provider(monitor)
                let manager = URLSessionManager(queue: queue)
                manager.eventMonitors = [
                    EventMonitor(queue: .onLoop(here.reactor)) { _, step in here.here { $0.note(step) } }
                ]
                var problem: String?
                do { try await outbox.startDelivery(with: manager) } catch { problem = "\(error)" }
                here.perform { [problem] in $0.opened(outbox, problem) }
            } catch {
                here.perform { $0.failed("\(error)") }
            }
        }
    }

    private func note(_ step: TaskStep) {
        switch step {
        case .parked: transfers.parked += 1
        case .completed(nil): transfers.succeeded += 1
        case .completed: transfers.failed += 1
        default: break
        }
    }

    package func reload(_ configuration: ServiceConfiguration) {
        limits = OutboxLimits(configuration.outbox)
        if case .open(let outbox) = phase, let limits { outbox.limits = limits }
    }

    private func opened(_ outbox: RequestOutbox, _ problem: String?) {
        if let problem { context?.log(.error, "outbox: requests are taken, but not delivered: \(problem)") }
        let waiting = takeWaiting()
        phase = .open(outbox)
        if let limits { outbox.limits = limits }
        count()
        for (call, answer) in waiting { begin(call, outbox, answer) }
        if let end { close(outbox, end) }
    }

    private func failed(_ reason: String) {
        context?.log(.error, "outbox: \(reason)")
        let waiting = takeWaiting()
        phase = .closed(reason: reason)
        for (_, answer) in waiting { answer.give(.unavailable(reason)) }
        end?()
        end = nil
    }

    private func takeWaiting() -> [(OutboxCall, Answer)] {
        if case .opening(let waiting) = phase { waiting } else { [] }
    }

    private func happened(_ event: OutboxEvent) {
        switch event {
        case .died(let id, let failure):
            context?.log(.warning, "outbox: request \(id) is given up: \(failure)")
        case .damaged(let file, let reason, let salvaged):
            context?.log(
                .error,
                "outbox: its file was damaged (\(reason)) and is now \(file); \(salvaged) requests were saved"
            )
        case .storageFailed(let reason): context?.log(.error, "outbox: \(reason)")
        default: break
        }
        count()
    }

    /// Counts anew; what happens meanwhile is counted once more, together.
    private func count() {
        guard case .open(let outbox) = phase, let context else { return }
        guard !isCounting else { return mayHaveChanged = true }
        isCounting = true
        let here = LoopBound(self, to: context.reactor)
        Task(executorPreference: executor) {
            let counts = try? await outbox.counts()
            here.perform { keeper in
                keeper.isCounting = false
                keeper.counts = counts
                guard keeper.mayHaveChanged else { return }
                keeper.mayHaveChanged = false
                keeper.count()
            }
        }
    }

    /// For Prometheus; nil before it was counted.
    var metrics: ServiceMetrics.Outbox? {
        counts.map { counts in
            let oldest = counts.oldest.map { Duration.seconds(max(0, -$0.timeIntervalSinceNow)) } ?? .zero
            return ServiceMetrics.Outbox(
                depth: UInt64(counts.waiting), deadLetters: UInt64(counts.dead), oldest: oldest,
                bytes: UInt64(counts.bytes))
        }
    }

    package var stateLine: String? {
        switch phase {
        case .opening: "being opened"
        case .open: counts.map { "\($0.waiting) wait, \($0.dead) given up" } ?? "open"
        case .closed(let reason): reason
        }
    }

    package func stop(_ done: @escaping () -> Void) {
        switch phase {
        case .opening: end = done
        case .open(let outbox): close(outbox, done)
        case .closed: done()
        }
    }

    private func close(_ outbox: RequestOutbox, _ done: @escaping () -> Void) {
        guard let context else { return done() }
        phase = .closed(reason: "the service ends")
        self.context = nil
        end = done
        let here = LoopBound(self, to: context.reactor)
        Task(executorPreference: executor) {
            await outbox.close()
            here.perform { keeper in
                keeper.end?()
                keeper.end = nil
            }
        }
    }

    // MARK: Calls

    package func answerOutbox(_ call: OutboxCall, _ answer: @escaping (VarlinkReply) -> Void) {
        switch phase {
        case .opening(let waiting): phase = .opening(waiting + [(call, Answer(answer))])
        case .open(let outbox): begin(call, outbox, Answer(answer))
        case .closed(let reason): answer(.unavailable(reason))
        }
    }

    private func begin(_ call: OutboxCall, _ outbox: RequestOutbox, _ answer: Answer) {
        guard let context else { return answer.give(.unavailable("the service ends")) }
        Self.run(call, outbox, LoopBound(answer, to: context.reactor), on: executor)
    }

    private static func run(
        _ call: OutboxCall, _ outbox: RequestOutbox, _ back: LoopBound<Answer>, on executor: LoopTaskExecutor?
    ) {
        Task(executorPreference: executor) {
            let reply = await outcome(of: call, outbox)
            back.perform { $0.give(reply) }
        }
    }

    private static func outcome(of call: OutboxCall, _ outbox: RequestOutbox) async -> VarlinkReply {
        do { return try await reply(to: call, outbox) } catch { return .unavailable("\(error)") }
    }

    private static func reply(to call: OutboxCall, _ outbox: RequestOutbox) async throws -> VarlinkReply {
        switch call {
        case .enqueue(let draft):
            guard let request = OutboxRequest(draft) else { return .invalidParameter("url") }
            let receipt = try await outbox.enqueue(request)
            return VarlinkReply([
                "id": .string("\(receipt.id)"), "idempotencyKey": .string(receipt.idempotencyKey),
                "repeated": .bool(receipt.isRepeated),
            ])
        case .list(let lane, let limit):
            let entries = try await outbox.entries(lane: lane, limit: limit)
            let counts = try await outbox.counts()
            return VarlinkReply([
                "entries": .array(entries.map(\.json)),
                "total": .integer(Int64(counts.waiting + counts.dead)),
            ])
        case .retry(let text):
            guard let id = try await known(text, outbox) else { return .noSuchEntry(text) }
            try await outbox.retry([id])
        case .remove(let text):
            guard let id = try await known(text, outbox) else { return .noSuchEntry(text) }
            try await outbox.remove([id])
        case .pause: try await outbox.pause()
        case .resume: try await outbox.resume()
        case .flush: try await outbox.flush()
        // Has to know who waits.
        case .wait: return .unavailable("not here")
        }
        return VarlinkReply()
    }

    private static func known(_ text: String, _ outbox: RequestOutbox) async throws -> OutboxID? {
        guard let number = Int64(text), let entry = try await outbox.entry(OutboxID(rawValue: number)) else {
            return nil
        }
        return entry.id
    }
}

extension OutboxLimits {
    /// As the configuration has them.
    init(_ settings: ServiceConfiguration.Outbox) {
        self.init()
        maximumEntries = Int(settings.entries)
        maximumBytes = settings.bytes
        maximumBodySize = settings.body
        policy =
            switch settings.whenFull {
            case "drop-oldest": .dropOldest
            case "drop-expired-first": .dropExpiredFirst
            default: .refuse
            }
    }
}
