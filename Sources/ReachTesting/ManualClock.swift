// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import SessionCore
import Synchronization

/// A clock that stands still until a test moves it.
///
/// Delays of answers sleep on it, and so may the program's own code, as on any `Clock`. A manager that was
/// made with it lives in its time altogether: time-outs, limits, pauses of retriers and the settle time of
/// its queue pass as the clock is moved, and never by themselves.
public final class ManualClock: Clock, Sendable {
    /// An instant of a manual clock.
    public struct Instant: InstantProtocol {
        /// Nanoseconds since the clock was made.
        let nanoseconds: Int64

        /// The instant that is so much later.
        public func advanced(by duration: Duration) -> Instant {
            Instant(nanoseconds: nanoseconds + duration.wholeNanoseconds)
        }

        /// How much later another instant is.
        public func duration(to other: Instant) -> Duration { .nanoseconds(other.nanoseconds - nanoseconds) }

        /// Whether it comes earlier.
        public static func < (one: Instant, other: Instant) -> Bool { one.nanoseconds < other.nanoseconds }
    }

    fileprivate struct Sleeper {
        var deadline: Int64
        var continuation: CheckedContinuation<Bool, Never>
    }

    fileprivate struct Watcher {
        var count: Int
        var continuation: AsyncStream<Void>.Continuation
    }

    fileprivate struct State {
        var sleepers: [Int: Sleeper] = [:]
        /// Sleeps that have not begun; one that is cancelled before is removed.
        var starting: Set<Int> = []
        var next = 0
        var reactor: Reactor?
        /// Wait for a number of sleepers.
        var watchers: [Int: Watcher] = [:]
    }

    private let time = ManualTime()
    private let start: Int64
    private let state = Mutex(State())

    /// A clock that stands still from now on.
    public init() { start = time.now }

    /// The instant to which the clock was moved.
    public var now: Instant { Instant(nanoseconds: time.now - start) }
    /// As fine as it gets.
    public var minimumResolution: Duration { .nanoseconds(1) }
    /// How many tasks sleep on it.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Returns when the clock was moved to the deadline; at once where it is there.
    ///
    /// - Throws: `CancellationError`.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let (due, number) = (start + deadline.nanoseconds, state.withLock { $0.newSleep() })
        let isDone = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (result, watchers) = state.withLock { state -> (Bool?, [Watcher]) in
                    guard state.starting.remove(number) != nil else { return (false, []) }
                    if due <= time.now { return (true, []) }
                    state.sleepers[number] = Sleeper(deadline: due, continuation: continuation)
                    return (nil, state.watchers.values.filter { $0.count <= state.sleepers.count })
                }
                // Outside the lock, which the cancellation of a task takes that holds this task's own lock.
                for watcher in watchers { watcher.continuation.finish() }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.starting.remove(number)
                return state.sleepers.removeValue(forKey: number)
            }
            sleeper?.continuation.resume(returning: false)
        }
        if !isDone { throw CancellationError() }
    }

    /// Moves the clock, from deadline to deadline, and returns when the timers of its managers have fired.
    ///
    /// What a Swift task does when it wakes up may come later: wait for its event.
    public func advance(by duration: Duration) async {
        let target = time.now + duration.wholeNanoseconds
        while true {
            let timer = await settle()
            let sleeper = state.withLock { $0.sleepers.values.map(\.deadline).min() }
            let next = min(timer ?? .max, sleeper ?? .max)
            guard next < target else { break }
            move(to: next)
        }
        move(to: target)
        _ = await settle()
    }

    /// Returns when so many tasks sleep on the clock, so that a move wakes them all.
    ///
    /// - Throws: ``ExpectationFailure`` where that does not come about in time (not by this clock).
    public func waitForSleepers(_ count: Int = 1, within limit: Duration = .seconds(30)) async throws {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let number: Int? = state.withLock { state in
            if state.sleepers.count >= count { return nil }
            let number = state.newNumber()
            state.watchers[number] = Watcher(count: count, continuation: continuation)
            return number
        }
        guard let number else { return }
        defer { state.withLock { _ = $0.watchers.removeValue(forKey: number) } }
        let alarm = Task {
            try await Task.sleep(for: limit)
            continuation.yield()
            continuation.finish()
        }
        defer { alarm.cancel() }
        for await _ in stream {
            throw ExpectationFailure(
                "\(sleeperCount) and not \(count) tasks sleep on the clock after \(limit)")
        }
        try Task.checkCancellation()
    }

    private func move(to instant: Int64) {
        time.move(to: instant)
        let due = state.withLock { state in
            let due = state.sleepers.filter { $0.value.deadline <= instant }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in due { sleeper.continuation.resume(returning: true) }
    }

    /// Returns when its loop has nothing to do: the deadline of its next timer.
    private func settle() async -> Int64? {
        guard let reactor = state.withLock({ $0.reactor }) else { return nil }
        return await ManualTime.settle(reactor)
    }

    /// The loop of the managers that live in this time.
    package func reactor() -> Result<Reactor, SessionError> {
        state.withLock { state in
            if let reactor = state.reactor { return .success(reactor) }
            do throws(ReactorError) {
                let new = try time.makeReactor(name: "reach-clock")
                state.reactor = new
                return .success(new)
            } catch {
                return .failure(
                    SessionError(.outOfResources, "no thread for a manual clock can be started: \(error)"))
            }
        }
    }
}

extension ManualClock.State {
    fileprivate mutating func newNumber() -> Int {
        next += 1
        return next
    }

    fileprivate mutating func newSleep() -> Int {
        let number = newNumber()
        starting.insert(number)
        return number
    }
}

extension Duration {
    /// Whole nanoseconds, bounded to 73 years either way.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let bounded = min(max(seconds, -2_300_000_000), 2_300_000_000)
        return bounded * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
