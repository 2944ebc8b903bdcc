// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CLinux
import Glibc

/// A file that is read in pieces; standard input for "-".
struct InputFile: ~Copyable {
    private let descriptor: Int32
    private let isOwned: Bool
    private let name: String

    /// Opens the file; prints the reason of a failure and throws the exit code.
    init(_ name: String) throws(ExitCode) {
        self.name = name
        isOwned = name != "-"
        // open(2) of a pipe would wait for its other end without a message.
        descriptor = isOwned ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : STDIN_FILENO
        guard descriptor >= 0, Self.isReadable(descriptor) else {
            complain("\(name): \(String(cString: strerror(errno)))")
            if descriptor > STDIN_FILENO { close(descriptor) }
            throw .usage
        }
        if isOwned { wait() }
    }

    /// False with `errno` for a folder.
    private static func isReadable(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        errno = EISDIR
        return status.st_mode & S_IFMT != S_IFDIR
    }

    /// Waits for the first bytes of a pipe or terminal, with a message after a moment.
    private func wait() {
        let message = WaitingMessage("waiting for something to be written into \(name)")
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while Glibc.poll(&poll, 1, -1) < 0, errno == EINTR {}
        message.end()
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    }

    deinit { if isOwned { close(descriptor) } }

    /// The next piece; empty at the end.
    func next() throws(ExitCode) -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count >= 0 { return Array(piece.prefix(count)) }
            guard errno == EINTR else {
                complain("\(name): \(String(cString: strerror(errno)))")
                throw .inputOutput
            }
        }
    }
}
