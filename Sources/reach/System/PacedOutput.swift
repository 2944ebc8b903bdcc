// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
import Reachability
import SessionManager
import Synchronization

/// Content on its way into a stream whose reader may stand still: a limit and an interruption end the wait.
final class PacedOutput: Sendable {
    private let stream: StandardStream
    /// The stream's pipe or terminal, opened anew without blocking, or -1: all users of a shared descriptor
    /// have its flags (fcntl(2), F_SETFL).
    private let own: Int32
    private let isSocket: Bool
    /// Rung by an interruption; -1 where no descriptor is left.
    private let bell: OwnedDescriptor
    /// How long the reader may still stand still; nil for ever.
    private let patience: Mutex<Duration?>
    private let limit: Duration?

    /// - Parameter limit: how long the reader may stand still, all in all; nil for ever.
    init(_ stream: StandardStream, limit: Duration?) {
        self.stream = stream
        self.limit = limit
        patience = Mutex(limit)
        bell = OwnedDescriptor(adopting: eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)))
        var status = stat()
        let kind = fstat(stream.descriptor, &status) == 0 ? status.st_mode & S_IFMT : S_IFREG
        isSocket = kind == S_IFSOCK
        // A regular file opened anew would be written from its beginning (proc_pid_fd(5)).
        own =
            kind == S_IFIFO || kind == S_IFCHR
            ? open("/proc/self/fd/\(stream.descriptor)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1
    }

    deinit { if own >= 0 { close(own) } }

    /// Ends a write that waits, and every later one that would; called from any thread.
    func interrupt() {
        var one: UInt64 = 1
        _ = Glibc.write(bell.number, &one, 8)
    }

    /// Writes all bytes.
    ///
    /// - Throws: ``SessionError/Code/cancelled`` after an interruption, ``SessionError/Code/timedOut`` after
    ///   the limit.
    func write(_ buffer: UnsafeRawBufferPointer) throws(SessionError) -> StandardStream.Outcome {
        guard own >= 0 || isSocket else { return stream.write(buffer) }
        let descriptor = own >= 0 ? own : stream.descriptor
        var rest = buffer[...]
        while !rest.isEmpty {
            let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress
            let count =
                isSocket
                ? send(descriptor, start, rest.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
                : Glibc.write(descriptor, start, rest.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                try wait(for: descriptor)
            } else if errno != EINTR {
                return errno == EPIPE ? .readerLeft : .failed(errno)
            }
        }
        return .written
    }

    private func wait(for descriptor: Int32) throws(SessionError) {
        let began = Clock.monotonic
        let left = patience.withLock { $0 }
        var polls = [
            pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: bell.number, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&polls, 2, MainThreadWaiter.milliseconds(until: left.map { began + $0 }))
        if polls[1].revents != 0 { throw SessionError(.cancelled, "the transfer was cancelled") }
        guard let left, let limit else { return }
        if count == 0 {
            throw SessionError(
                .timedOut, "the reader of the output stood still for \(limit)", remedy: .longerTask)
        }
        patience.withLock { $0 = left - (Clock.monotonic - began) }
    }
}
