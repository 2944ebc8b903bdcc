// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CLinux
import EventLoop
import Glibc
import Reachability
import Synchronization

/// The main thread's wait while the loop's thread works.
///
/// It waits for a signal, for the work to say that it is done, for the reader of standard output to go away,
/// or for a time limit; it sleeps in one poll(2) and does nothing else.
final class MainThreadWaiter: Sendable {
    /// Why the wait is over.
    enum End: Sendable, Hashable {
        case interrupted, finished, readerLeft, timedOut
    }

    private let signals: OwnedDescriptor
    private let bell: OwnedDescriptor
    private let isFinished = Mutex(false)

    /// Takes SIGINT and SIGTERM off their usual course.
    ///
    /// To be made before any thread is started: threads inherit the mask.
    ///
    /// - Parameter forTask: whether a Swift task is waited for, which needs a thread.
    /// - Throws: why nothing could be waited for: no descriptor is left, or no thread.
    init(forTask: Bool = false) throws(ReactorError) {
        var set = Self.takeSignals()
        signals = try OwnedDescriptor("signalfd", signalfd(-1, &set, Int32(SFD_CLOEXEC)))
        bell = try OwnedDescriptor("eventfd", eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)))
        if forTask { try TaskThreads.reserve() }
    }

    /// The same for a command; prints the reason and throws the exit code.
    static func begin(forTask: Bool = false, orExit code: ExitCode) throws(ExitCode) -> MainThreadWaiter {
        do throws(ReactorError) { return try MainThreadWaiter(forTask: forTask) } catch {
            complain("nothing can be waited for: \(error)")
            throw code
        }
    }

    /// Has SIGINT and SIGTERM wait until they are asked for; returns the two.
    @discardableResult
    static func takeSignals() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &set, nil)
        return set
    }

    /// Ends the wait; from any thread.
    func finish() {
        isFinished.withLock { $0 = true }
        ring()
    }

    /// Wakes the wait up, so that its deadline is asked for again; from any thread.
    func ring() {
        var one: UInt64 = 1
        _ = write(bell.number, &one, 8)
    }

    /// Waits.
    ///
    /// - Parameters:
    ///   - watchesOutput: whether it ends when the reader of standard output has closed the pipe.
    ///   - deadline: When it ends at the latest; asked again after each ring. Nil for never.
    func wait(watchesOutput: Bool, until deadline: () -> MonotonicInstant?) -> End {
        while true {
            if isFinished.withLock({ $0 }) { return .finished }
            let limit = deadline()
            let left = limit.map { ($0 - Clock.monotonic).inNanoseconds }
            if let left, left <= 0 { return .timedOut }
            // Rounded up: a wait that ends too early would spin.
            let milliseconds = left.map { Int32(min(Int64(Int32.max), ($0 + 999_999) / 1_000_000)) } ?? -1
            var polls = [
                pollfd(fd: signals.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: bell.number, events: Int16(POLLIN), revents: 0),
                // Waiting for nothing still reports an error or a hang-up (poll(2)).
                pollfd(fd: watchesOutput ? STDOUT_FILENO : -1, events: 0, revents: 0),
            ]
            guard poll(&polls, nfds_t(polls.count), milliseconds) >= 0 else { continue }
            if polls[0].revents != 0 {
                // Taken, so that the next wait ends with the next signal only.
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
