// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CLinux
import Glibc
import ServiceCore

/// Where the configuration of the service comes from; read at its start, and with SIGHUP again.
struct ServeSources: Sendable {
    private let file: String
    /// A file that was named has to be there.
    private let isNamed: Bool
    private let environment: [String: String]
    private let options: [String]

    init(config: String?, options: [String]) {
        file = config ?? ServicePaths.configuration
        isNamed = config != nil
        environment = Self.environment()
        self.options = options
    }

    /// Standard input can be read once only.
    var canBeReadAgain: Bool { file != "-" }

    /// Reads the configuration; problems are in the reader.
    func read() -> ConfigurationReader {
        var reader = ConfigurationReader()
        if isNamed || access(file, F_OK) == 0 {
            if let bytes = Self.content(file) {
                reader.read(file: file, bytes)
            } else {
                reader.fail(place: file, String(cString: strerror(errno)))
            }
        }
        reader.read(environment: environment)
        reader.read(arguments: options)
        reader.finish()
        return reader
    }

    /// The same, or everything that is wrong is said.
    func checked() throws(ExitCode) -> ConfigurationReader {
        let reader = read()
        guard reader.problems.isEmpty else {
            for problem in reader.problems { complain(problem.description) }
            throw .usage
        }
        return reader
    }

    /// So long, in milliseconds, is a piece of the configuration waited for.
    private static let patience: Int32 = 5_000

    /// Its bytes, of which there may be too many by then; nil with `errno` where it cannot be read.
    private static func content(_ file: String) -> [UInt8]? {
        let descriptor = file == "-" ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var (bytes, piece) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while bytes.count <= TOMLReader.sizeLimit {
            // A pipe may be slow to write, or have no writer at all.
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if descriptor != STDIN_FILENO, Glibc.poll(&poll, 1, patience) == 0 {
                errno = ETIMEDOUT
                return nil
            }
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return nil }
            if count == 0 { break }
            bytes += piece[..<count]
        }
        return bytes
    }

    private static func environment() -> [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let words = String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if words.count == 2 { variables[String(words[0])] = String(words[1]) }
            entry += 1
        }
        return variables
    }
}
