// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CLinux
import EventLoop
import Glibc
import Reachability
import Synchronization

/// The main thread's wait for a signal, `finish`, a closed standard output, or a time limit, in one poll(2).
final class MainThreadWaiter: Sendable {
    /// The event that ended the wait.
    enum End: Sendable, Hashable {
        case interrupted, finished, readerLeft, timedOut
    }

    private let signals: OwnedDescriptor
    private let bell: OwnedDescriptor
    private let isFinished = Mutex(false)

    /// Blocks SIGINT and SIGTERM and receives them by signalfd(2); made before any thread is started.
    ///
    /// - Parameter forTask: whether a Swift task is waited for, which needs a thread.
    init(forTask: Bool = false) throws(ReactorError) {
        var set = Self.blockSignals()
        signals = try OwnedDescriptor("signalfd", signalfd(-1, &set, Int32(SFD_CLOEXEC)))
        bell = try OwnedDescriptor("eventfd", eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)))
        if forTask { try TaskThreads.reserve() }
    }

    /// Makes the waiter of a command; on failure prints the reason and throws the exit code.
    static func begin(forTask: Bool = false, orExit code: ExitCode) throws(ExitCode) -> MainThreadWaiter {
        do throws(ReactorError) { return try MainThreadWaiter(forTask: forTask) } catch {
            complain("nothing can be waited for: \(error)")
            throw code
        }
    }

    /// Blocks SIGINT and SIGTERM; returns the two.
    @discardableResult
    static func blockSignals() -> sigset_t {
        var set = endingSignals
        pthread_sigmask(SIG_BLOCK, &set, nil)
        return set
    }

    /// SIGINT and SIGTERM.
    static var endingSignals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        return set
    }

    /// The time that is left, for poll(2); -1 without a limit.
    static func milliseconds(until limit: MonotonicInstant?) -> Int32 {
        guard let limit else { return -1 }
        // Rounded up: a wait that ends too early would spin.
        let left = ((limit - Clock.monotonic).inNanoseconds + 999_999) / 1_000_000
        return Int32(min(Int64(Int32.max), max(0, left)))
    }

    /// Ends the wait; called from any thread.
    func finish() {
        isFinished.withLock { $0 = true }
        ring()
    }

    /// Wakes the wait, so that it reads its deadline again; called from any thread.
    func ring() {
        var one: UInt64 = 1
        _ = write(bell.number, &one, 8)
    }

    /// Waits until `deadline`, which is read again after each ring, or standard output closes, if watched.
    func wait(watchesOutput: Bool, until deadline: () -> MonotonicInstant?) -> End {
        while true {
            if isFinished.withLock({ $0 }) { return .finished }
            let milliseconds = Self.milliseconds(until: deadline())
            if milliseconds == 0 { return .timedOut }
            var polls = [
                pollfd(fd: signals.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: bell.number, events: Int16(POLLIN), revents: 0),
                // Without events poll(2) still reports errors and hang-ups.
                pollfd(fd: watchesOutput ? STDOUT_FILENO : -1, events: 0, revents: 0),
            ]
            guard poll(&polls, nfds_t(polls.count), milliseconds) >= 0 else { continue }
            if polls[0].revents != 0 {
                // Consumed, so that only another signal ends the next wait.
                var signal = signalfd_siginfo()
                _ = read(signals.number, &signal, MemoryLayout<signalfd_siginfo>.size)
                return .interrupted
            }
            if polls[2].revents != 0 { return .readerLeft }
            if polls[1].revents != 0 {
                var count: UInt64 = 0
                _ = read(bell.number, &count, 8)
            }
        }
    }
}
