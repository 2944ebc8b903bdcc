// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CLinux
import Glibc
import Reachability

/// A descriptor to which text is written line by line, without a buffer.
struct StandardStream: Sendable {
    static let output = StandardStream(descriptor: STDOUT_FILENO)
    static let error = StandardStream(descriptor: STDERR_FILENO)

    let descriptor: Int32

    /// Whether it was opened for writing; a closed one was not (see ``prepare()``).
    var isWritable: Bool {
        let flags = fcntl(descriptor, F_GETFL)
        return flags >= 0 && flags & O_ACCMODE != O_RDONLY
    }

    /// The outcome of a write.
    enum Outcome: Sendable, Hashable {
        case written
        /// The reader has closed the pipe (EPIPE).
        case readerLeft
        /// The write failed with this errno(3): a full disk, a broken one, or a closed descriptor (EBADF).
        case failed(Int32)

        fileprivate init(errno: Int32) { self = errno == EPIPE ? .readerLeft : .failed(errno) }
    }

    /// Writes all bytes; after another outcome than `written` further writes are useless.
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

    /// Makes sure that descriptors 0, 1 and 2 are open, so that no socket gets one of these numbers and is
    /// written to by mistake; and that a closed pipe is an error and no signal.
    static func prepare() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF
        {
            // Writing here fails, as on the closed one; only a directory also makes opening /dev/stdout fail.
            _ = descriptor == STDIN_FILENO ? open("/dev/null", O_RDONLY) : open("/", O_RDONLY | O_DIRECTORY)
        }
        signal(SIGPIPE, SIG_IGN)
    }
}

/// A file that is written from its beginning; standard output for "-".
final class OutputFile: Sendable {
    private let stream: StandardStream
    private let isOwned: Bool

    /// Opens the file, and a pipe once it has a reader; prints the reason of a failure and throws the exit
    /// code.
    init(_ name: String, until limit: MonotonicInstant? = nil) throws(ExitCode) {
        guard name != "-" else {
            stream = .output
            isOwned = false
            return
        }
        stream = StandardStream(
            descriptor: try ReadinessWait.openForWriting(
                name, O_CREAT | O_TRUNC, until: limit, orExit: .usage))
        isOwned = true
    }

    /// Whether a write may wait for a reader, as into a pipe.
    var mayBlock: Bool {
        var status = stat()
        return fstat(stream.descriptor, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    }

    deinit { if isOwned { close(stream.descriptor) } }

    /// Writes all of it; returns the reason of a failure, "" for a closed pipe.
    func write(_ bytes: [UInt8]) -> String? {
        switch stream.write(bytes) {
        case .written: nil
        case .readerLeft: ""
        case .failed(let errno): String(cString: strerror(errno))
        }
    }
}
