// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CLinux
import Glibc
import Reachability

/// A file that is read in pieces; standard input for "-".
struct InputFile: ~Copyable {
    private let descriptor: Int32
    private let isOwned: Bool
    private let name: String
    private let limit: MonotonicInstant?

    /// Opens the file; prints the reason of a failure and throws the exit code.
    ///
    /// - Parameter limit: when reading is given up; nil for never.
    init(_ name: String, until limit: MonotonicInstant? = nil) throws(ExitCode) {
        self.name = name
        self.limit = limit
        isOwned = name != "-"
        // open(2) of a pipe would wait for its other end without a message.
        descriptor = isOwned ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : STDIN_FILENO
        guard descriptor >= 0, Self.isReadable(descriptor) else {
            complain("\(name): \(String(cString: strerror(errno)))")
            if descriptor > STDIN_FILENO { close(descriptor) }
            throw .usage
        }
        guard isOwned else { return }
        let message = WaitingMessage("waiting for something to be written into \(name)")
        try wait()
        message.end()
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    }

    /// False with `errno` for a folder.
    private static func isReadable(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        errno = EISDIR
        return status.st_mode & S_IFMT != S_IFDIR
    }

    /// Waits for the next bytes of a pipe or terminal.
    private borrowing func wait() throws(ExitCode) {
        switch ReadinessWait.wait(for: descriptor, POLLIN, until: limit) {
        case .ready: return
        case .interrupted:
            complain("interrupted")
            throw .interrupted
        case .timedOut:
            complain("\(isOwned ? name : "standard input"): it has not ended in time")
            throw .timedOut
        }
    }

    deinit { if isOwned { close(descriptor) } }

    /// The next piece; empty at the end.
    func next() throws(ExitCode) -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            try wait()
            let count = read(descriptor, &piece, piece.count)
            if count >= 0 { return Array(piece.prefix(count)) }
            guard errno == EINTR else {
                complain("\(name): \(String(cString: strerror(errno)))")
                throw .inputOutput
            }
        }
    }
}
