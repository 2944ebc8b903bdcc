// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc
import Reachability
import ServiceCore
import SessionManager

/// The request, and the destination of its content.
struct GetContentOptions: ParsableArguments {
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "Save as this file; - for standard output. Of several URLs the first -o is for the first, and so on.",
            valueName: "file"))
    var outputs: [String] = []

    @Flag(
        name: [.customShort("O"), .customLong("remote-name")],
        help: "Save here under the last part of the URL's path, of several URLs those without -o.")
    var usesRemoteName = false

    @Flag(
        name: [.customShort("c"), .customLong("resume")],
        help:
            "Resume from the part that an earlier run has left; of several URLs, leave files that are there.")
    var isResuming = false

    @Option(
        name: .customLong("sha256"),
        help: ArgumentHelp("Accept only content with this checksum.", valueName: "hex"),
        transform: Value.sha256)
    var checksum: [UInt8]?

    @Option(
        name: [.customShort("X"), .customLong("request")],
        help: ArgumentHelp("The method. (default: GET, with -d POST)", valueName: "method"),
        transform: Value.method)
    var method: HTTPRequest.Method?

    @Option(
        name: [.customShort("d"), .customLong("data")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Send this; @file sends a file as it is, @- standard input. Several are joined by '&'. Its type is that of a form unless -H says so.",
            valueName: "data"))
    var data: [String] = []

    @Option(
        name: [.customShort("H"), .customLong("header")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Send this header field; 'Name:' leaves one out that is sent otherwise, 'Name;' sends it without a value.",
            valueName: "name: value"),
        transform: Value.field)
    var fields: [GivenField] = []

    /// - Parameter count: how many URLs the command line has.
    func validate(_ count: Int) throws {
        if usesRemoteName, count > 0, outputs.count >= count {
            throw ValidationError("-o and -O exclude each other.")
        }
        if outputs.count > count { throw ValidationError("there are more -o than URLs.") }
        if outputs.contains("") { throw ValidationError("-o needs the name of a file.") }
        if method == .head, !data.isEmpty {
            throw ValidationError("a HEAD request sends no data; leave out -d or -X HEAD.")
        }
        guard isResuming else { return }
        if !data.isEmpty || method ?? .get != .get { throw ValidationError("only GET can be resumed.") }
    }

    /// The name of a URL's file here, by ``remoteName(_:)``.
    func ownName(_ url: URL) throws -> String {
        if let name = Self.remoteName(url) { return name }
        throw ValidationError(
            Self.lastPart(url).utf8.count > Self.longestName
                ? "the last part of the URL's path is too long for the name of a file; give one with -o."
                : "the URL's path ends without a name for a file; give one with -o.")
    }

    /// The last part of the path, decoded, if it can be the name of a file.
    static func remoteName(_ url: URL) -> String? {
        let name = lastPart(url)
        return name.isEmpty || name == "." || name == ".." || name.utf8.count > longestName ? nil : name
    }

    /// The longest name whose companion `.FILE.part.resume.new` fits into 255 bytes (NAME_MAX, limits.h).
    private static let longestName = 255 - 17

    private static func lastPart(_ url: URL) -> String {
        func last(_ isEncoded: Bool) -> String {
            let parts = url.path(percentEncoded: isEncoded).split(
                separator: "/", omittingEmptySubsequences: false)
            return parts.last.map { String($0) } ?? ""
        }
        let encoded = last(true)
        let name = encoded.lowercased().contains("%2f") ? encoded : last(false)
        // A name that would lead elsewhere or is unreadable in a listing stays as the URL spells it.
        let isPlain = name.unicodeScalars.allSatisfy { !SafeText.steers($0.value) }
        return isPlain ? name : encoded
    }

    /// - Parameter limit: when reading what is to be sent is given up; nil for never.
    func request(
        _ url: URL, _ connection: GetConnectionOptions, until limit: MonotonicInstant? = nil
    ) throws -> SessionRequest {
        var request = SessionRequest(url: url, method: method ?? (data.isEmpty ? .get : .post))
        request.headerFields[.userAgent] = UserAgent(program: "reach", version: Reach.version).description
        request.headerFields[.accept] = "*/*"
        if !data.isEmpty {
            request.body = try body(until: limit)
            request.headerFields[.contentType] = "application/x-www-form-urlencoded"
        }
        var replaced: Set<HTTPField.Name> = []
        for field in fields {
            // The first field of a name replaces the default, further ones are added.
            if replaced.insert(field.name).inserted { request.headerFields[field.name] = nil }
            if let value = field.value {
                request.headerFields.append(HTTPField(name: field.name, value: value))
            } else {
                request.options.omittedFields.append(field.name)
            }
        }
        request.options.maximumBytesPerSecond = connection.rate
        // As for curl(1), 0 is no limit.
        request.options.timeouts.connect = connection.connectTimeout.flatMap { $0 == .zero ? nil : $0 }
        request.options.timeouts.total = connection.maximumTime.flatMap { $0 == .zero ? nil : $0 }
        if let silence = connection.longestSilence {
            request.options.timeoutInterval = silence
            // A missing server is detected by the connection's own limit, however long a silence may be.
            request.options.timeouts.connect = request.options.timeouts.connect ?? .seconds(60)
        }
        return request
    }

    private func body(until limit: MonotonicInstant?) throws(ExitCode) -> RequestBody {
        if data.count == 1, let only = data.first, only.hasPrefix("@"), only != "@-" {
            let path = String(only.dropFirst())
            guard access(path, R_OK) == 0 else {
                complain("\(path): \(String(cString: strerror(errno)))")
                throw .inputOutput
            }
            var status = stat()
            // What is no regular file, such as a pipe, has no size to announce and is read before.
            if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG { return .file(path: path) }
        }
        var bytes: [UInt8] = []
        for (index, piece) in data.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            guard piece.hasPrefix("@") else {
                bytes += piece.utf8
                continue
            }
            let file = try InputFile(String(piece.dropFirst()), until: limit)
            while case let more = try file.next(), !more.isEmpty { bytes += more }
        }
        return .data(Data(bytes))
    }
}
