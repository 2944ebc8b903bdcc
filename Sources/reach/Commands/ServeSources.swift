// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CLinux
import Glibc
import ServiceCore

/// The sources of the service's configuration; read at the start, and again with SIGHUP.
struct ServeSources: Sendable {
    private let file: String
    /// Whether the file was named and so has to exist.
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
                reader.fail(source: file, String(cString: strerror(errno)))
            }
        }
        reader.read(environment: environment)
        reader.read(arguments: options)
        reader.finish()
        return reader
    }

    /// The reader if there are no problems; else prints them and throws the exit code.
    func checked() throws(ExitCode) -> ConfigurationReader {
        let reader = read()
        guard reader.problems.isEmpty else {
            for problem in reader.problems { complain(problem.description) }
            throw .usage
        }
        return reader
    }

    /// The limit for each piece of the configuration, in milliseconds.
    private static let patience: Int32 = 5_000

    /// The file's bytes, cut off above a limit; nil with `errno` if it cannot be read.
    private static func content(_ file: String) -> [UInt8]? {
        let descriptor = file == "-" ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var (bytes, piece) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while bytes.count <= TOMLReader.sizeLimit {
            // A pipe's writer may be slow or missing.
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
