// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

/// A file that is written from its beginning; standard output for "-".
final class OutputFile: Sendable {
    private let stream: StandardStream
    private let isOwned: Bool

    /// Opens it, or says why not and gives the exit code.
    init(_ name: String) throws(ExitCode) {
        guard name != "-" else {
            stream = .output
            isOwned = false
            return
        }
        let descriptor = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            complain("\(name): \(String(cString: strerror(errno)))")
            throw .usage
        }
        stream = StandardStream(descriptor: descriptor)
        isOwned = true
    }

    deinit {
        if isOwned { close(stream.descriptor) }
    }

    /// Writes all of it; returns the reason of a failure, "" for a closed pipe.
    func write(_ bytes: [UInt8]) -> String? {
        switch stream.write(bytes) {
        case .written: nil
        case .readerLeft: ""
        case .failed(let errno): String(cString: strerror(errno))
        }
    }
}
