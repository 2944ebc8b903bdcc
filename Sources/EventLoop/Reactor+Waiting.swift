// SPDX-License-Identifier: Apache-2.0

/// Watches, timers and hooks. Used on the loop's thread; handlers run there too and need not be `@Sendable`.
extension Reactor {
    /// Calls `handler` as long as the descriptor is ready (level-triggered, epoll(7)).
    ///
    /// Replaces an existing watch of the number. The kernel gets the watch just before the next wait; if it
    /// refuses, the watch ends and the handler is called once with `[.error, .refused]`. Errors and hang-ups
    /// are reported with each turn, whatever the interest, unless the watch is parked (`change(_:to: [])`).
    ///
    /// - Parameter retrying: Whether a watch that the kernel refuses for want of memory (ENOMEM, ENOSPC:
    ///   epoll_ctl(2)) is tried again each second. For descriptors that have to be heard at last, however
    ///   late; the handler is told `.refused` only if the descriptor can never be watched.
    /// - Throws: `ReactorError.stopped` after the loop's end, or EBADF for a negative number.
    @discardableResult
    package func watch(
        _ descriptor: Int32, for interest: Interest, retrying: Bool = false,
        _ handler: @escaping (Readiness) -> Void
    ) throws(ReactorError) -> WatchID {
        try loop.state.watch(descriptor, for: interest, retrying: retrying, handler)
    }

    /// Changes a watch's interest; an empty one parks it, and the kernel gets the sum of a turn's changes.
    package func change(_ descriptor: Int32, to interest: Interest) {
        loop.state.change(descriptor, to: interest)
    }

    /// Changes this watch's interest, though its number may have been reused; false if it has ended.
    package func change(_ watch: WatchID, to interest: Interest) -> Bool {
        loop.state.change(watch, to: interest)
    }

    /// Ends this watch, and no later one of the same number.
    package func unwatch(_ watch: WatchID) { loop.state.unwatch(watch) }

    /// Ends a watch, if any; called *before* the descriptor is closed.
    ///
    /// The handler is not called any more, not even for events that were fetched already, and is released.
    package func unwatch(_ descriptor: Int32) { loop.state.unwatch(descriptor) }

    /// Runs `work` once, never before the deadline (`Reactor.now`), and at most a millisecond late if idle.
    package func schedule(at deadline: Int64, _ work: @escaping () -> Void) -> TimerID {
        loop.state.schedule(at: deadline, work)
    }

    /// Moves a timer; false if it has fired or been cancelled.
    @discardableResult
    package func reschedule(_ timer: TimerID, at deadline: Int64) -> Bool {
        loop.state.reschedule(timer, at: deadline)
    }

    /// Cancels a timer; false if it has fired or been cancelled.
    @discardableResult
    package func cancel(_ timer: TimerID) -> Bool { loop.state.cancel(timer) }

    /// Runs `hook` in every turn before the changes are applied, and again after work that hooks posted.
    package func beforeWait(_ hook: @escaping () -> Void) -> HookID { loop.state.addHook(hook) }

    /// The deadline of the next timer; nil for none.
    package var nextDeadline: Int64? { loop.state.nextDeadline }

    /// Whether the loop has ended; no hook runs any more.
    package var hasEnded: Bool { loop.state.isClosed }

    /// Removes a hook; from inside a hook this holds for the next turn.
    package func removeHook(_ hook: HookID) { loop.state.removeHook(hook) }

    /// The epoll_ctl(2) calls so far; measures what the gathering saves.
    package var kernelChanges: Int { loop.state.poller.controls }

    /// The numbers of timers, watches and hooks; tests find leaks with it.
    package var holdings: (timers: Int, watches: Int, hooks: Int) { loop.state.holdings }
}
