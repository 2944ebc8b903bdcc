// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import SessionCore
// Exported, since users of an outbox need the managers that deliver.
@_exported public import SessionManager
import Storage
import Synchronization

/// Stores HTTP requests on the disk until a server has them: through crashes, `kill -9` and loss of power.
///
/// ``enqueue(_:)-(OutboxRequest)`` returns when the request is on the disk. One process at a time delivers
/// (``startDelivery(with:probe:)``); any number of processes may enqueue, list, retry and remove, which the
/// delivering one detects. Requests of one lane arrive in order; lanes do not wait for each other. A request
/// is delivered at least once: if its answer is lost, or the process is killed before the answer is stored,
/// it is sent again with the same `Idempotency-Key`.
///
///     let outbox = try await RequestOutbox(at: "/var/lib/meter/outbox")
///     try await outbox.startDelivery(with: manager)
///     try await outbox.enqueue(OutboxRequest("https://api.example.com/samples", body: .data(sample)))
///
/// Every member may be used from any thread; SQLite works on a thread of the outbox's own.
public final class RequestOutbox: Sendable {
    /// Requests of one call, which are stored together.
    private struct Group: Sendable {
        var requests: [PreparedEntry]
        var continuation: CheckedContinuation<[OutboxReceipt], any Error>
    }

    /// The folder of its files.
    public let folder: String
    /// How it stores and delivers.
    public let configuration: OutboxConfiguration
    private let reactor: Reactor
    let engine: LoopBound<OutboxEngine>
    private let broadcaster = EventBroadcaster<OutboxEvent>()
    private let bodies: BodyFolder
    /// Requests since the last transaction.
    private let pendingInserts = Mutex<[Group]>([])
    let network = Mutex<ReachabilityObservation?>(nil)
    let internet = Mutex<ReachabilityObservation?>(nil)
    private let bounds: Mutex<OutboxLimits>

    /// The limits: at first those of ``configuration``; a change applies to later requests.
    public var limits: OutboxLimits {
        get { bounds.withLock { $0 } }
        set {
            bounds.withLock { $0 = newValue }
            engine.perform { $0.limits = newValue }
        }
    }

    /// Opens or makes the outbox of a folder, readable and writable for this user alone.
    ///
    /// A damaged database is moved aside and its readable entries copied; see
    /// ``OutboxEvent/damaged(movedTo:reason:salvaged:)``, which `onEvent` gets.
    ///
    /// - Parameter onEvent: called with each event, in order, on the outbox's thread; has to return soon.
    /// - Throws: ``OutboxError``.
    public init(
        at folder: String, configuration: OutboxConfiguration = OutboxConfiguration(),
        onEvent: (@Sendable (OutboxEvent) -> Void)? = nil
    ) async throws {
        if let fault = FileFailure.fault(ofPath: folder) {
            throw OutboxError(.storage, fault.message, advice: fault.advice)
        }
        self.folder = folder
        self.configuration = configuration
        bounds = Mutex(configuration.limits)
        bodies = BodyFolder(paths: OutboxPaths(folder: folder))
        do throws(ReactorError) { reactor = try Reactor(name: "reach-outbox") } catch {
            throw OutboxError(.storage, "no thread for the outbox can be started: \(error)")
        }
        if let onEvent { _ = broadcaster.subscribe(onEvent) }
        let (reactor, broadcaster) = (reactor, broadcaster)
        engine = try await withCheckedThrowingContinuation { continuation in
            reactor.perform {
                do throws(OutboxError) {
                    let engine = try OutboxEngine(folder, configuration, broadcaster, on: reactor)
                    continuation.resume(returning: LoopBound(engine, to: reactor))
                } catch { continuation.resume(throwing: error) }
            }
        }
        if configuration.usesStoredLimits, let kept = try await storedLimits() { limits = kept }
    }

    /// Whether a folder has no outbox; also false if that cannot be determined.
    package static func isMissing(at folder: String) -> Bool { OutboxPaths(folder: folder).isMissing }

    deinit {
        network.withLock { $0 }?.cancel()
        internet.withLock { $0 }?.cancel()
        engine.perform { $0.close() }
    }

    /// Ends the delivery and closes the files; later calls fail with ``OutboxError/Code/closed``.
    public func close() async {
        await stopDelivery()
        await withCheckedContinuation { continuation in
            engine.perform { engine in
                engine.close()
                continuation.resume()
            }
        }
    }

    /// Runs tasks on the thread that stores, by `withTaskExecutorPreference` or `executorPreference`.
    ///
    /// Made for code that enqueues one request after the other: nothing changes threads then, which saves
    /// about a fifth of the time. What takes long or blocks there holds up every other use of the outbox.
    public var storageExecutor: any TaskExecutor { LoopTaskExecutor(reactor) }

    // MARK: Storing requests

    /// Stores a request; it is on the disk when this returns.
    ///
    /// Requests that are enqueued at the same time share a transaction.
    ///
    /// - Throws: ``OutboxError`` if nothing was stored.
    @discardableResult
    public func enqueue(_ request: OutboxRequest) async throws -> OutboxReceipt {
        try await enqueue([request])[0]
    }

    /// Stores requests, all or none, in one transaction; they are on the disk when this returns.
    ///
    /// - Throws: ``OutboxError`` if nothing was stored.
    @discardableResult
    public func enqueue(_ requests: [OutboxRequest]) async throws -> [OutboxReceipt] {
        guard !requests.isEmpty else { return [] }
        var prepared: [PreparedEntry] = []
        prepared.reserveCapacity(requests.count)
        do {
            for request in requests {
                prepared.append(try PreparedEntry(request, bodies: bodies, limits: limits))
            }
        } catch {
            for entry in prepared { if let file = entry.file { bodies.discard(file) } }
            throw error
        }
        return try await withCheckedThrowingContinuation { continuation in
            let isFirst = pendingInserts.withLock { pendingInserts in
                pendingInserts.append(Group(requests: prepared, continuation: continuation))
                return pendingInserts.count == 1
            }
            guard isFirst else { return }
            engine.perform { engine in self.insertPending(engine) }
        }
    }

    /// Stores the pending requests in one transaction.
    private func insertPending(_ engine: OutboxEngine) {
        let groups = pendingInserts.withLock { pendingInserts in
            defer { pendingInserts = [] }
            return pendingInserts
        }
        var results: [Result<OutboxTables.Insertion, OutboxTables.InsertFailure>] = []
        do throws(OutboxError) {
            guard !engine.isClosed else { throw OutboxError(.closed, "the outbox was closed") }
            try engine.file.add { (database) throws(StorageError) in
                let (clock, tables) = (ClockReading.now, OutboxTables(database))
                try tables.follow(clock)
                results = try tables.insert(
                    groups: groups.map(\.requests), limits: limits, bodies: bodies, now: clock.wall,
                    isInFlight: engine.isInFlight)
            }
        } catch {
            for group in groups { refuse(group, error) }
            return
        }
        for (group, result) in zip(groups, results) {
            switch result {
            case .success(let taken):
                for (request, receipt) in zip(group.requests, taken.receipts) where receipt.isRepeated {
                    if let file = request.file { bodies.discard(file) }
                }
                bodies.remove(taken.files)
                for id in taken.dropped { broadcaster.publish(.dropped(id)) }
                broadcaster.publish(.enqueued(taken.receipts))
                for (id, successor) in taken.replaced { broadcaster.publish(.replaced(id, by: successor)) }
                if !taken.replaced.isEmpty || !taken.dropped.isEmpty { engine.answerWaiters() }
                group.continuation.resume(returning: taken.receipts)
            case .failure(let failure): refuse(group, failure.error)
            }
        }
        engine.startReady()
    }

    private func refuse(_ group: Group, _ error: OutboxError) {
        for request in group.requests { if let file = request.file { bodies.discard(file) } }
        group.continuation.resume(throwing: error)
    }

    /// Events from now on, in order; of unread ones the newest 10,000 are kept.
    ///
    /// The sequence ends when the task is cancelled, or the outbox is closed or gone.
    public var events: AsyncStream<OutboxEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(10_000)) { continuation in
            let number = broadcaster.subscribe({ continuation.yield($0) }, onEnd: { continuation.finish() })
            continuation.onTermination = { [weak broadcaster] _ in broadcaster?.unsubscribe(number) }
        }
    }

    /// Calls `handler` with each event, in order, on the outbox's thread; has to return soon.
    public func observe(_ handler: @escaping @Sendable (OutboxEvent) -> Void) -> OutboxObservation {
        OutboxObservation(number: broadcaster.subscribe(handler), broadcaster: broadcaster)
    }

    /// Runs `body` on the outbox's thread.
    func on<Value: Sendable>(
        _ body: @escaping @Sendable (OutboxEngine) throws(OutboxError) -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            engine.perform { engine in
                do throws(OutboxError) {
                    guard !engine.isClosed else { throw OutboxError(.closed, "the outbox was closed") }
                    continuation.resume(returning: try body(engine))
                } catch { continuation.resume(throwing: error) }
            }
        }
    }

    func wait(_ waiter: SettlementWaiter, _ continuation: CheckedContinuation<OutboxSettlement, any Error>) {
        engine.perform { engine in
            waiter.continuation = continuation
            engine.answer(waiter)
        }
    }

    /// In order with ``wait(_:_:)`` on the outbox's thread, whichever comes first.
    func forget(_ waiter: SettlementWaiter) { engine.perform { $0.forget(waiter) } }
}

/// A subscription to an outbox's events.
public struct OutboxObservation: Sendable {
    let number: Int
    let broadcaster: EventBroadcaster<OutboxEvent>
    /// Ends it.
    public func cancel() { broadcaster.unsubscribe(number) }
}
