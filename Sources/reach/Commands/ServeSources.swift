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
    func read() -> ConfigurationReader { read(patience: Self.patience) }

    /// Reads it again without waiting for what comes through a pipe, since the service's loop calls this.
    ///
    /// - Parameter groupInForce: a group by another name is looked up.
    func readAgain(groupInForce: String) -> ConfigurationReader {
        var reader = read(patience: 0)
        if reader.configuration.outbox.group != groupInForce { Self.checkGroup(&reader) }
        return reader
    }

    /// The reader if there are no problems; else prints them and throws the exit code.
    func checked() throws(ExitCode) -> ConfigurationReader {
        var reader = read()
        Self.checkGroup(&reader)
        guard reader.problems.isEmpty else {
            for problem in reader.problems { complain(problem.description) }
            throw .usage
        }
        return reader
    }

    /// Reports a group that this machine does not have, with which the service would not start.
    private static func checkGroup(_ reader: inout ConfigurationReader) {
        let name = reader.configuration.outbox.group
        guard !name.isEmpty, UnixGroup.number(name) == nil else { return }
        reader.fail(
            source: reader.sources["outbox.group"] ?? "", key: "outbox.group",
            "there is no group '\(name)'; 'getent group' lists them")
    }

    private func read(patience: Int32) -> ConfigurationReader {
        var reader = ConfigurationReader()
        if isNamed || access(file, F_OK) == 0 {
            do throws(Unreadable) {
                reader.read(file: file, try Self.content(file, patience: patience))
            } catch {
                reader.fail(source: file, error.reason)
            }
        }
        reader.read(environment: environment)
        reader.read(arguments: options)
        reader.finish()
        return reader
    }

    /// The limit for each piece of the configuration at the start, in milliseconds.
    private static let patience: Int32 = 5_000

    /// Why a file cannot be read.
    private struct Unreadable: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
        /// A system failure, from the current `errno`.
        init() { self.init(String(cString: strerror(errno))) }
    }

    /// The file's bytes, cut off above a limit.
    private static func content(_ file: String, patience: Int32) throws(Unreadable) -> [UInt8] {
        let descriptor = file == "-" ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Unreadable() }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var (bytes, piece) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while bytes.count <= TOMLReader.sizeLimit {
            // A pipe's writer may be slow or missing.
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if descriptor != STDIN_FILENO, Glibc.poll(&poll, 1, patience) == 0 {
                let time = patience > 0 ? " within \(patience / 1_000) s" : ""
                throw Unreadable("it is a pipe, and no program has written to it\(time)")
            }
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw Unreadable() }
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
