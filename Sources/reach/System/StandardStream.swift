// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Reachability

/// A descriptor that text is written to, line by line and without a buffer in between.
struct StandardStream: Sendable {
    static let output = StandardStream(descriptor: STDOUT_FILENO)
    static let error = StandardStream(descriptor: STDERR_FILENO)

    let descriptor: Int32

    /// What became of a write.
    enum Outcome: Sendable, Hashable {
        case written
        /// The reader has closed the pipe (EPIPE).
        case readerLeft
        /// It failed with this errno(3): a full disk, a broken one, a descriptor that was closed from the
        /// start (EBADF).
        case failed(Int32)

        fileprivate init(errno: Int32) {
            self = errno == EPIPE ? .readerLeft : .failed(errno)
        }
    }

    /// Writes all of it; what comes after anything but `written` is of no use.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Outcome { bytes.withUnsafeBytes { write($0) } }

    @discardableResult
    func write(_ buffer: UnsafeRawBufferPointer) -> Outcome {
        var rest = buffer[...]
        while !rest.isEmpty {
            let count = Glibc.write(
                descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Another process made the terminal or pipe non-blocking.
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                guard poll(&wait, 1, -1) >= 0 || errno == EINTR else { return Outcome(errno: errno) }
            } else if errno != EINTR {
                return Outcome(errno: errno)
            }
        }
        return .written
    }

    @discardableResult
    func write(_ text: String) -> Outcome { write(Array(text.utf8)) }

    /// Makes sure that 0, 1 and 2 are open, so that no socket is given one of these numbers and written to by
    /// mistake; and that a closed pipe is an error and no signal.
    static func prepare() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF
        {
            // What is written there fails, as it would have on the closed descriptor; so does opening it for
            // writing as /dev/stdout, which only a directory makes sure of.
            _ = descriptor == STDIN_FILENO ? open("/dev/null", O_RDONLY) : open("/", O_RDONLY | O_DIRECTORY)
        }
        signal(SIGPIPE, SIG_IGN)
    }
}
