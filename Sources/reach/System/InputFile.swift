// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

/// A file that is read in pieces; standard input for "-".
struct InputFile: ~Copyable {
    private let descriptor: Int32
    private let isOwned: Bool
    private let name: String

    /// Opens it, or says why not and gives the exit code.
    init(_ name: String) throws(ExitCode) {
        self.name = name
        isOwned = name != "-"
        descriptor = isOwned ? open(name, O_RDONLY | O_CLOEXEC) : STDIN_FILENO
        guard descriptor >= 0 else {
            complain("\(name): \(String(cString: strerror(errno)))")
            throw .usage
        }
    }

    deinit {
        if isOwned { close(descriptor) }
    }

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
