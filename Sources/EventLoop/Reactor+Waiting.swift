// SPDX-License-Identifier: Apache-2.0

/// What can be waited for. Only on the loop's thread; handlers run there too and need not be `@Sendable`.
extension Reactor {
    /// Calls `handler` whenever the descriptor is ready, as long as it is (level-triggered, epoll(7)).
    ///
    /// The kernel is told just before the next wait, together with everything else that changed. Where it refuses,
    /// the watch ends and the handler is called once with `[.error, .refused]`. A watch of the same number that
    /// still exists is replaced.
    ///
    /// Errors and hang-ups come unasked, and again with each turn until the watch ends, is parked
    /// (`change(_:to: [])`), or the cause is gone.
    ///
    /// - Throws: `ReactorError.stopped` after the loop's end, or EBADF for a negative number.
    @discardableResult
    package func watch(
        _ descriptor: Int32, for interest: Interest, _ handler: @escaping (Readiness) -> Void
    ) throws(ReactorError) -> WatchID {
        try loop.state.watch(descriptor, for: interest, handler)
    }

    /// Changes what a watch waits for; an empty interest parks it, so that not even errors are reported.
    ///
    /// Costs nothing by itself: of all changes of a turn the kernel learns the sum.
    package func change(_ descriptor: Int32, to interest: Interest) {
        loop.state.change(descriptor, to: interest)
    }

    /// Changes what this watch waits for; false where it has ended.
    ///
    /// For a descriptor that is closed behind its watcher's back: its number may be watched by another one by now.
    package func change(_ watch: WatchID, to interest: Interest) -> Bool {
        loop.state.change(watch, to: interest)
    }

    /// Ends this watch, and no other of the same number.
    package func unwatch(_ watch: WatchID) { loop.state.unwatch(watch) }

    /// Ends a watch.
    ///
    /// To be called *before* the descriptor is closed; the number may be watched anew at once.
    /// Its handler is not called any more, not even for what has been fetched from the kernel already, and is
    /// released, inside itself too. A descriptor that nobody watches is ignored.
    package func unwatch(_ descriptor: Int32) { loop.state.unwatch(descriptor) }

    /// Runs `work` once, when `Reactor.now` has reached the deadline.
    ///
    /// Never before it, and on an idle machine at most a millisecond late. A deadline that has passed is due with
    /// the next turn.
    package func schedule(at deadline: Int64, _ work: @escaping () -> Void) -> TimerID {
        loop.state.schedule(at: deadline, work)
    }

    /// Moves a timer; false when it has fired or been cancelled.
    @discardableResult
    package func reschedule(_ timer: TimerID, at deadline: Int64) -> Bool {
        loop.state.reschedule(timer, at: deadline)
    }

    /// Forgets a timer; false when it has fired or been cancelled.
    @discardableResult
    package func cancel(_ timer: TimerID) -> Bool { loop.state.cancel(timer) }

    /// Runs `hook` in every turn, just before the gathered changes are applied and the loop waits; once more after what hooks have handed
    /// to this thread.
    package func beforeWait(_ hook: @escaping () -> Void) -> HookID { loop.state.addHook(hook) }

    /// Whether the loop has ended: no hook runs any more.
    package var hasEnded: Bool { loop.state.isClosed }

    /// Forgets a hook; from inside a hook it holds for the next turn.
    package func removeHook(_ hook: HookID) { loop.state.removeHook(hook) }

    /// The epoll_ctl(2) calls so far, a measure of what the gathering saves.
    package var kernelChanges: Int { loop.state.poller.controls }

    /// How much waits here, a measure of what has not been let go of.
    package var holdings: (timers: Int, watches: Int, hooks: Int) { loop.state.holdings }
}
