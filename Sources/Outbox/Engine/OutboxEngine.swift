// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore
import SessionManager
import Storage

/// Carries out the outbox's work on a thread of its own, since SQLite waits for the disk.
final class OutboxEngine {
    let file: OutboxFile
    let bodies: BodyFolder
    let configuration: OutboxConfiguration
    /// The outbox's limits, of which those of files count when they are fetched.
    var limits: OutboxLimits
    let reactor: Reactor
    /// Runs the short steps of deliveries: the runtime's own threads, once used, wake up every second.
    private let executor: LoopTaskExecutor
    let broadcaster: EventBroadcaster<OutboxEvent>
    var machine: DispatchStateMachine
    var manager: URLSessionManager?
    /// Held while this process delivers.
    var lock: LockFile?
    var inFlight: [OutboxID: InFlightDelivery] = [:]
    /// Not stored yet.
    var outcomes: [DeliveryOutcome] = []
    var isSettling = false
    /// The origins that refuse everything.
    var refusals: OriginRefusals
    /// The probe's result; nil without a probe.
    var internet: InternetFindings?
    /// The newest entry when the delivery began; another process may have sent it and older ones before.
    var lastOfOthers = OutboxID(rawValue: 0)
    var batches = BatchLanes()
    /// The path over which requests are sent; nil where nothing reports it.
    var path: CarryingPath?
    /// The lanes that have spent their budgets, and those of them that wait for that reason.
    var overBudget: Set<String> = []
    var spent: Set<String> = []
    private var health = StorageHealth()
    /// False after compacting has failed.
    var mayCompact = true
    private var watch: DatabaseWatcher?
    private var version: Int64 = 0
    /// Whether changes of other processes will be looked for.
    private var isLookDue = false
    private var timer: TimerID?
    /// The boot time by the clock that dated the entries.
    private var start: Int64?
    /// How far local time was ahead of UTC when windows were looked up last.
    private var zone: Int64?
    var waiters: [SettlementWaiter] = []
    let following = EntryFollowers()
    /// How many entries have left since results were removed last.
    var unremoved = 0
    /// Wait for the last delivery to end.
    var stopWaiters: [CheckedContinuation<Void, Never>] = []
    var isClosed = false

    init(
        _ folder: String, _ configuration: OutboxConfiguration, _ broadcaster: EventBroadcaster<OutboxEvent>,
        on reactor: Reactor
    ) throws(OutboxError) {
        self.configuration = configuration
        limits = configuration.limits
        self.reactor = reactor
        executor = LoopTaskExecutor(reactor)
        self.broadcaster = broadcaster
        let checks = configuration.checksIntegrity ? configuration.largestCheckedAtOnce : nil
        file = try OutboxFile(folder, checks: checks) { aside, reason, salvaged in
            broadcaster.publish(.damaged(movedTo: aside, reason: reason, salvaged: salvaged))
        }
        file.onLoss = { sentence in
            broadcaster.publish(.storageFailed(sentence))
            broadcaster.publish(.storageRecovered)
        }
        bodies = BodyFolder(paths: file.paths)
        refusals = OriginRefusals(configuration.retries)
        machine = DispatchStateMachine(
            limit: configuration.maximumDeliveries, limitPerHost: configuration.maximumDeliveriesPerHost)
        version = try file.read { (database) throws(StorageError) in try database.dataVersion() }
        startWatching()
        if configuration.checksIntegrity, file.isLarge { check(.tables) }
    }

    /// Checks the file while it is in use.
    func check(_ part: DatabaseCheck.Part) {
        let bound = LoopBound(self, to: reactor)
        DatabaseCheck.start(part, file.paths) { damaged, reason in
            bound.perform { $0.foundDamage(damaged, reason) }
        }
    }

    private func foundDamage(_ damaged: FileIdentity, _ reason: String) {
        guard !isClosed else { return }
        do throws(OutboxError) {
            try file.foundDamage(damaged, reason)
        } catch { report(error, .reading) }
        if file.hasMoved { fileChanged() }
    }

    func startWatching() {
        watch?.end()
        watch = nil
        file.hasMoved = false
        let log = file.paths.database + (file.hasLog ? "-wal" : "")
        if configuration.watchesLog {
            watch = DatabaseWatcher(log, on: reactor) { [weak self] in self?.logChanged() }
        }
        if watch == nil { lookForOthers(after: Self.lookPeriod) }
    }

    /// A process, perhaps this one, writes to the database.
    ///
    /// While this one does, it looks for changes of others from time to time: the next request would wait for
    /// each look.
    private func logChanged() {
        guard !isLookDue else { return }
        guard Reactor.now - file.written >= Self.lookPause else {
            return lookForOthers(after: Self.lookPause)
        }
        fileChanged()
    }

    /// Looks for changes of others; later also for a watch if there is none.
    private func lookForOthers(after pause: Int64) {
        guard !isLookDue else { return }
        isLookDue = true
        _ = reactor.schedule(at: Reactor.now + pause) { [weak self] in
            guard let self, !isClosed else { return }
            isLookDue = false
            fileChanged()
            if watch == nil { startWatching() }
        }
    }

    /// In nanoseconds.
    private static let lookPause: Int64 = 5_000_000
    /// The interval of looks without a watch: a user has 128 of them unless the system is told otherwise
    /// (inotify(7)).
    private static let lookPeriod: Int64 = 1_000_000_000

    /// A process, perhaps this one, has written to the database.
    private func fileChanged() {
        guard !isClosed else { return }
        do throws(OutboxError) {
            let now = try file.version()
            guard now != version || file.hasMoved else { return worked([.reading]) }
            version = now
            if file.hasMoved {
                startWatching()
                try renewLock()
            }
            try readPause()
            worked([.reading])
        } catch { report(error, .reading) }
        recall()
        answerWaiters()
        reportAllChanges()
        startReady()
    }

    func readPause() throws(OutboxError) {
        let isPaused = try file.read { (database) throws(StorageError) in
            try OutboxTables(database).counts().isPaused
        }
        if machine.pauseChanged(isPaused) { broadcaster.publish(.paused(isPaused)) }
    }

    /// Publishes a failure of the files, once.
    func report(_ error: OutboxError, _ work: StorageHealth.Work) {
        guard health.failed(work, error.description) else { return }
        broadcaster.publish(.storageFailed(error.description))
    }

    func worked(_ works: Set<StorageHealth.Work>) {
        if health.worked(works) { broadcaster.publish(.storageRecovered) }
    }

    // MARK: Sending

    /// Starts all deliveries that may start; `now` is one instant for all steps: an entry due between two
    /// readings of the clock would neither be sent nor waited for.
    func startReady(now: Int64 = WallClock.now) {
        guard machine.isRunning, !isClosed else { return }
        reportChanges()
        do throws(OutboxError) {
            try followClock()
            let hasMore = try bringUpToDate(now: now)
            let tomorrow = try checkBudgets(now: now)
            _ = try gatherBatches(now: now)
            for condition in NetworkCondition.allCases {
                while try dispatch(condition, now: now) > 0, machine.room(condition) > 0 {}
            }
            let (deadline, leftovers) = try file.read { (database) throws(StorageError) in
                let tables = OutboxTables(database)
                return (try tables.nextDeadline(after: now), try tables.leftovers())
            }
            try sweep(leftovers)
            let gathered = try nextBatch(now: now)
            let next = [
                deadline, refusals.nextTrial(after: now), nextClosing(after: now), gathered, tomorrow,
            ]
            .compactMap { $0 }.min()
            // A clock or a time zone that was set is noticed within five minutes.
            wake(after: hasMore ? 0 : next.map { min($0 - now, 300_000) })
            worked([.choosing])
        } catch {
            report(error, .choosing)
            wake(after: 1_000)
        }
    }

    /// Adjusts the times in the file after the clock was set.
    private func followClock() throws(OutboxError) {
        let clock = ClockReading.now
        guard start.map({ abs(clock.start - $0) >= ClockReading.slack }) ?? true else { return }
        try file.write { (database) throws(StorageError) in try OutboxTables(database).follow(clock) }
        start = clock.start
        batches.plans = [:]
    }

    private func dispatch(_ condition: NetworkCondition, now: Int64) throws(OutboxError) -> Int {
        let room = machine.room(condition)
        guard room > 0, let manager else { return 0 }
        let (hosts, limit) = (machine.fullHosts(condition), room + machine.busyLanes(condition))
        let refused = refusals.closed(at: now) + machine.heldOrigins.sorted()
        let holdsPlain = PlainHolds.holds(internet, condition)
        let waiting = batches.waiting.union(spent).sorted()
        var (local, deliveries): (Set<String>, [PendingDelivery]) = ([], [])
        repeat {
            deliveries = try file.read { [local] (database) throws(StorageError) in
                try OutboxTables(database).ready(
                    condition, now: now, horizon: configuration.retries.horizon, exceptHosts: hosts,
                    exceptOrigins: refused + local, exceptLanes: waiting, holdsPlain: holdsPlain, limit: limit
                )
            }
            // What waits for its window must not stand before the others.
            if try closeWindows(of: deliveries, now: now) { continue }
            // What another uplink does not reach waits, and must not stand before the others.
            let others = deliveries.filter { isPlainAndLocal($0) }.map(\.origin)
            local.formUnion(others)
            if others.isEmpty { break }
        } while true
        var count = 0
        for pending in deliveries {
            guard refusals.isOpen(pending.origin, at: now), !spent.contains(pending.lane),
                machine.start(
                    pending.id, lane: pending.lane, origin: pending.origin, host: pending.host,
                    condition: condition)
            else { continue }
            count += 1
            guard let request = try composedOrFreed(pending, now: now) else { continue }
            refusals.started(for: pending.origin)
            send(request, by: manager)
        }
        return count
    }

    /// As ``composed(_:now:)``; the lane is free again if nothing is sent.
    private func composedOrFreed(_ pending: PendingDelivery, now: Int64) throws(OutboxError)
        -> PendingDelivery?
    {
        do throws(OutboxError) {
            if let request = try composed(pending, now: now) {
                if let batch = request.batch { machine.joined(batch.members, lane: pending.lane) }
                return request
            }
        } catch {
            machine.settled(lane: pending.lane)
            throw error
        }
        machine.settled(lane: pending.lane)
        batches.waiting.insert(pending.lane)
        batches.unready.insert(pending.lane)
        return nil
    }

    private func send(_ pending: PendingDelivery, by manager: URLSessionManager) {
        let bound = LoopBound(self, to: reactor)
        let managerTask = ManagerTask { reason in
            // The slot is free for another, or the origin open.
            bound.perform { if $0.held(pending, reason?.sentence) { $0.startReady() } }
        } onProgress: { done, total in
            bound.perform { engine in
                engine.progressed(pending, done, of: total ?? pending.size)
                if pending.download != nil { engine.received(done, pending, now: WallClock.now) }
            }
        }
        let isPlain = PlainHolds.isPlain(pending.origin)
        let uplink = isPlain ? PlainHolds.uplink(internet, pending.condition) : nil
        let delivery = Delivery(
            pending: pending, manager: manager, configuration: configuration, paths: file.paths,
            isRepeated: pending.attempts > 0 || pending.id <= lastOfOthers, uplink: uplink,
            managerTask: managerTask, reactor: reactor, isExpensive: isExpensive,
            avoidsExpense: overBudget.contains(pending.lane))
        let fetching = pending.download.map { self.fetching(delivery, $0) }
        let work = Task.detached(executorPreference: executor) {
            let outcome = if let fetching { await fetching.run() } else { await delivery.run() }
            bound.perform { engine in engine.completed(outcome, pending) }
        }
        inFlight[pending.id] = InFlightDelivery(
            work: work, task: managerTask, isPlain: isPlain, uplink: uplink, window: pending.plan?.window,
            part: pending.download?.part, batch: pending.batch, lane: pending.lane)
    }

    /// Records all lanes whose windows are closed, if one of these is; false if none is.
    private func closeWindows(of deliveries: [PendingDelivery], now: Int64) throws(OutboxError) -> Bool {
        guard deliveries.contains(where: { $0.plan?.window != nil }) else { return false }
        followZone(now)
        guard deliveries.contains(where: { $0.plan?.opens(at: now, LocalZone.offset) != nil }) else {
            return false
        }
        try file.write { (database) throws(StorageError) in
            try OutboxTables(database).closeLanes(now: now, LocalZone.offset)
        }
        return true
    }

    /// Notices another time zone, or the change to and from summer time; true if windows may have moved.
    @discardableResult
    func followZone(_ now: Int64) -> Bool {
        LocalZone.refresh()
        let offset = LocalZone.offset(at: now / 1_000)
        defer { zone = offset }
        return zone != nil && zone != offset
    }

    func wake(after milliseconds: Int64?) {
        if let timer { reactor.cancel(timer) }
        timer = milliseconds.map { pause in
            reactor.schedule(at: Reactor.now + max(pause, 1) * 1_000_000) { [weak self] in
                self?.timer = nil
                self?.startReady()
            }
        }
    }

    func close() {
        guard !isClosed else { return }
        stop()
        isClosed = true
        watch?.end()
        watch = nil
        wake(after: nil)
        for waiter in waiters {
            waiter.end(.failure(OutboxError(.closed, "the outbox was closed")))
        }
        waiters = []
        endFollowing()
        broadcaster.close()
        closeFilesIfDone()
    }

    /// Closes the files of a closed outbox once what its last deliveries have come to is stored.
    func closeFilesIfDone() {
        if isClosed, inFlight.isEmpty, outcomes.isEmpty { file.close() }
    }
}
