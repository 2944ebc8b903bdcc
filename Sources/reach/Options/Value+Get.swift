// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc
import Reachability
import SessionManager

/// A header field as given to `-H`.
struct GivenField: Sendable, Hashable {
    var name: HTTPField.Name
    /// Nil removes the field; empty sends it without a value.
    var value: String?
}

extension Value {
    /// An address to fetch from.
    static func url(_ text: String) throws -> URL {
        do throws(SessionError) { return try URL(spoken: text) } catch {
            // The fault of an international name.
            if !error.advice.isEmpty { throw ValidationError("\(error.message); \(error.advice).") }
            let start = text.lowercased()
            let advice =
                if start.hasPrefix("http://") || start.hasPrefix("https://") {
                    "it names no host, or has characters that a URL writes as %XX, and a host's name as xn--…"
                } else if let parts = SocketURL(text),
                    parts.socket.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
                {
                    "write --unix-socket \(parts.socket) \(parts.address())"
                } else if text.contains("://") {
                    "only http and https are spoken"
                } else {
                    "write https://\(text.isEmpty ? "example.com" : text)"
                }
            throw ValidationError("this is no http or https URL; \(advice).")
        }
    }

    /// A socket of this machine; a path may begin in the current folder.
    static func socket(_ text: String) throws -> String {
        guard !text.isEmpty, text != "@" else {
            throw ValidationError("give the path of a socket, or @ and the name of an abstract one.")
        }
        let isWhole = text.hasPrefix("/") || text.hasPrefix("@")
        let folder = FileManager.default.currentDirectoryPath
        let path = isWhole ? text : folder == "/" ? "/\(text)" : "\(folder)/\(text)"
        do throws(SessionError) { return try UnixSocket(path).name } catch {
            throw ValidationError("\(error.message); \(error.advice).")
        }
    }

    /// `Name: value`; `Name:` for a field that is not to be sent, `Name;` for one without a value.
    static func field(_ text: String) throws -> GivenField {
        if text.hasSuffix(";"), !text.contains(":"), let name = HTTPField.Name(String(text.dropLast())) {
            return GivenField(name: name, value: "")
        }
        guard let colon = text.firstIndex(of: ":"), let name = HTTPField.Name(String(text[..<colon])) else {
            throw ValidationError(
                "give 'Name: value', 'Name:' to leave a field out, or 'Name;' to send it without a value.")
        }
        let value = String(text[text.index(after: colon)...].trimmingBlanks)
        guard HTTPField.isValidValue(value) else {
            throw ValidationError("a line break or another control character would break the request apart.")
        }
        return GivenField(name: name, value: value.isEmpty ? nil : value)
    }

    /// Bytes a second, as curl(1) takes them: K, M and G are powers of 1024.
    static func rate(_ text: String) throws -> Int64 {
        var digits = Substring(text)
        var shift: Int64 = 0
        if let last = text.utf8.last, let power = "kmg".utf8.firstIndex(of: last | 0x20) {
            shift = 10 * Int64("kmg".utf8.distance(from: "kmg".utf8.startIndex, to: power) + 1)
            digits.removeLast()
        }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(digits), number > 0, number <= Int64.max >> (shift + 1)
        else { throw ValidationError("give bytes a second, for example 200K or 2M.") }
        return number << shift
    }

    /// The number of retries.
    static func retries(_ text: String) throws -> Int {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(text), count <= 1_000_000
        else { throw ValidationError("give a number of tries, for example 3.") }
        return count
    }

    /// A number of transfers at once.
    static func parallel(_ text: String) throws -> Int {
        let count = try Value.count(text)
        guard count <= 100 else { throw ValidationError("give a number from 1 to 100.") }
        return count
    }

    /// A method (RFC 9110 §9).
    static func method(_ text: String) throws -> HTTPRequest.Method {
        guard let method = HTTPRequest.Method(text) else { throw ValidationError("this is no method.") }
        return method
    }

    /// 64 hexadecimal digits.
    static func sha256(_ text: String) throws -> [UInt8] {
        guard let bytes = SHA256Digest.parse(text) else {
            throw ValidationError("give the 64 hexadecimal digits that sha256sum(1) prints.")
        }
        return bytes
    }

    /// `sha256//BASE64`, several separated by semicolons.
    static func pins(_ text: String) throws -> Set<PublicKeyPin> {
        let pins: Set<PublicKeyPin>
        do throws(SessionError) { pins = try PublicKeyPin.list(text) } catch {
            throw ValidationError("\(error.advice).")
        }
        guard !pins.isEmpty else { throw ValidationError("a pin is sha256// and 44 characters of base64.") }
        return pins
    }

    /// Long enough to type it into another program.
    private static let passphrasePatience: Duration = .seconds(60)

    /// The passphrase in a file, at most 64 KiB, without the line breaks at its end.
    static func passphraseFile(_ path: String) throws -> String {
        // A pipe without a writer must not block the program.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw ValidationError("\(String(cString: strerror(errno))).") }
        defer { close(file) }
        var (bytes, piece): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 4096))
        while bytes.count <= 64 << 10 {
            let count = read(file, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            // A pipe whose writer has not written yet.
            if count < 0, errno == EAGAIN {
                let limit = Clock.monotonic + passphrasePatience
                if ReadinessWait.wait(for: file, POLLIN, until: limit) == .ready { continue }
                throw ValidationError("nothing was written into it for a minute.")
            }
            guard count >= 0 else { throw ValidationError("\(String(cString: strerror(errno))).") }
            if count == 0 { break }
            bytes += piece[..<count]
        }
        while bytes.last == 0x0A || bytes.last == 0x0D { bytes.removeLast() }
        guard !bytes.isEmpty, bytes.count <= 64 << 10, !bytes.contains(0) else {
            throw ValidationError(
                "give a file with nothing but the passphrase; this one is empty or too long.")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
