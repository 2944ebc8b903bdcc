// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CLinux
import Glibc
import Reachability

/// The main thread's waits for descriptors, which a signal or a limit ends in any case.
///
/// Commands block SIGINT and SIGTERM, so that a plain read(2), open(2) or poll(2) would not notice them.
/// Where they are not blocked they end the process by themselves.
enum ReadinessWait {
    enum End: Sendable, Hashable {
        case ready, interrupted, timedOut
    }

    /// Waits until one of the descriptors is ready, which `revents` shows; without any until the limit.
    static func wait(_ polls: inout [pollfd], until limit: MonotonicInstant?) -> End {
        var set = MainThreadWaiter.endingSignals
        // Without a free descriptor (-1, which poll(2) ignores) the limit remains.
        let signals = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        polls.append(pollfd(fd: signals, events: Int16(POLLIN), revents: 0))
        defer {
            polls.removeLast()
            if signals >= 0 { close(signals) }
        }
        while true {
            let count = poll(&polls, nfds_t(polls.count), MainThreadWaiter.milliseconds(until: limit))
            if count < 0, errno == EINTR { continue }
            if count > 0, polls[polls.count - 1].revents != 0 {
                // Consumed, so that only another signal ends the next wait.
                var signal = signalfd_siginfo()
                _ = read(signals, &signal, MemoryLayout<signalfd_siginfo>.size)
                return .interrupted
            }
            return count == 0 ? .timedOut : .ready
        }
    }

    /// Waits for one descriptor.
    static func wait(for descriptor: Int32, _ events: Int32, until limit: MonotonicInstant?) -> End {
        var polls = [pollfd(fd: descriptor, events: Int16(events), revents: 0)]
        return wait(&polls, until: limit)
    }

    /// The pause between two attempts to open a pipe without a reader.
    private static let pause: Duration = .milliseconds(50)

    /// Opens a file for writing, and a pipe once it has a reader.
    ///
    /// - Parameter code: the exit code for a file that cannot be opened.
    /// - Throws: the exit code, after the reason is printed.
    static func openForWriting(
        _ path: String, _ flags: Int32 = 0, until limit: MonotonicInstant?, orExit code: ExitCode
    ) throws(ExitCode) -> Int32 {
        let message = WaitingMessage("waiting for a reader of \(path)")
        let number = try opened(path, flags, limit, code)
        message.end()
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) & ~O_NONBLOCK)
        return number
    }

    private static func opened(
        _ path: String, _ flags: Int32, _ limit: MonotonicInstant?, _ code: ExitCode
    ) throws(ExitCode) -> Int32 {
        while true {
            let number = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags, 0o644)
            if number >= 0 { return number }
            let failure = errno
            var status = stat()
            guard failure == ENXIO, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
                complain("\(path): \(String(cString: strerror(failure)))")
                throw code
            }
            // The kernel has no event for a reader that comes (fifo(7)), so this polls.
            var none: [pollfd] = []
            let next = Clock.monotonic + pause
            if wait(&none, until: limit.map { min($0, next) } ?? next) == .interrupted {
                complain("interrupted")
                throw .interrupted
            }
            if let limit, Clock.monotonic >= limit {
                complain("\(path): it was not opened for reading in time")
                throw .timedOut
            }
        }
    }
}
