// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport

/// A clock that stands still until a test moves it.
final class HandClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [(until: Instant, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())
    /// How long each sleeper wanted to sleep.
    let sleeps = EventLog<Duration>()

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        await withCheckedContinuation { continuation in
            let wanted = state.withLock { state in
                state.sleepers.append((deadline, continuation))
                return state.now.duration(to: deadline)
            }
            sleeps.append(wanted)
        }
    }

    /// Moves it, and wakes who has slept long enough.
    func advance(by duration: Duration) {
        let awake = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let now = state.now
            let awake = state.sleepers.filter { $0.until <= now }
            state.sleepers.removeAll { $0.until <= now }
            return awake.map(\.continuation)
        }
        for continuation in awake { continuation.resume() }
    }
}
