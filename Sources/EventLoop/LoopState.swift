// SPDX-License-Identifier: Apache-2.0

import CLinux

/// Identifies a hook of one loop.
package struct HookID: Sendable, Equatable {
    let number: Int
}

/// The state of the loop's thread; nothing is being accessed while a handler runs, as it may call back.
final class LoopState {
    var poller: Poller
    private var watches = WatchTable()
    private var timers = TimerHeap()
    private var hooks: [(id: HookID, run: () -> Void)] = []
    private var nextHook = 0
    // Set while changes are postponed that the kernel had no memory for.
    private var retry: TimerID?
    private static let retryInterval: Int64 = 1_000_000_000
    /// The thread has ended: new watches and timers are refused.
    private(set) var isClosed = false

    init() throws(ReactorError) { poller = try Poller() }

    // MARK: Steps of a turn

    /// Runs the timers that are due; timers that they set wait for the next turn.
    func fireTimers() {
        guard let first = timers.deadline else { return }
        let now = clinux_monotonic_nanoseconds()
        guard first <= now else { return }
        let limit = timers.order
        while let work = timers.next(due: now, before: limit) { work() }
    }

    var nextDeadline: Int64? { timers.deadline }

    var holdings: (timers: Int, watches: Int, hooks: Int) { (timers.count, watches.count, hooks.count) }

    func runHooks() {
        let current = hooks
        for hook in current { hook.run() }
    }

    /// Applies the gathered changes to the epoll instance.
    ///
    /// - Returns: whether the kernel refused one; the hooks of another turn then see what its handler did.
    func applyChanges() -> Bool {
        let refused = watches.apply(&poller)
        if watches.hasPostponed, retry == nil {
            retry = timers.add(at: clinux_monotonic_nanoseconds() + Self.retryInterval) { [self] in
                retry = nil
                watches.retryPostponed()
            }
        }
        for handler in refused { handler([.error, .refused]) }
        return !refused.isEmpty
    }

    /// Waits for an event or the next deadline, and calls the handlers.
    func wait(forever: Bool) {
        var limit: Int64 = forever ? -1 : 0
        if forever, let deadline = timers.deadline {
            let rest = deadline &- clinux_monotonic_nanoseconds()
            // A time that stands still is moved with a message.
            limit = rest <= 0 ? 0 : clinux_has_moved_time() == 0 ? rest : -1
        }
        let count = poller.wait(limit: limit)
        for index in 0..<count {
            let (tag, mask) = poller.event(index)
            if let (handler, readiness) = watches.recipient(tag: tag, mask: mask) { handler(readiness) }
        }
    }

    /// Releases all handlers, on the loop's thread.
    func close() {
        isClosed = true
        let last = (watches, timers, hooks)
        (watches, timers, hooks) = (WatchTable(), TimerHeap(), [])
        withExtendedLifetime(last) {}
    }

    // MARK: Requests of handlers

    func watch(
        _ descriptor: Int32, for interest: Interest, retrying: Bool,
        _ handler: @escaping (Readiness) -> Void
    ) throws(ReactorError) -> WatchID {
        guard !isClosed else { throw .stopped }
        // Releasing the former handler may end other watches.
        let (watch, former) = try watches.add(
            descriptor, interest, retrying: retrying, handler, &poller)
        withExtendedLifetime(former) {}
        return watch
    }

    func change(_ descriptor: Int32, to interest: Interest) { watches.want(interest, descriptor) }

    func change(_ watch: WatchID, to interest: Interest) -> Bool {
        guard watches.holds(watch) else { return false }
        watches.want(interest, watch.descriptor)
        return true
    }

    func unwatch(_ watch: WatchID) { if watches.holds(watch) { unwatch(watch.descriptor) } }

    func unwatch(_ descriptor: Int32) { _ = watches.remove(descriptor, &poller) }

    func schedule(at deadline: Int64, _ work: @escaping () -> Void) -> TimerID {
        isClosed ? TimerID(slot: -1, generation: 0) : timers.add(at: deadline, work)
    }

    func reschedule(_ timer: TimerID, at deadline: Int64) -> Bool { timers.move(timer, to: deadline) }

    func cancel(_ timer: TimerID) -> Bool { timers.remove(timer) != nil }

    func addHook(_ run: @escaping () -> Void) -> HookID {
        nextHook += 1
        let id = HookID(number: nextHook)
        if !isClosed { hooks.append((id, run)) }
        return id
    }

    func removeHook(_ id: HookID) {
        guard let index = hooks.firstIndex(where: { $0.id == id }) else { return }
        _ = hooks.remove(at: index)
    }
}
