// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// Looks up values that must not be stored, tokens and passwords of header fields, when a request is sent.
///
/// Called on the outbox's thread, so it has to wait by `await` and must not block.
public protocol SecretSource: Sendable {
    /// The secret of this name; looked up for each attempt, so that a renewed token is found.
    ///
    /// - Throws: if there is none at the moment; the request is tried again later.
    func secret(named key: String) async throws -> String

    /// Called when a server has refused the secret with 401 or 403; a source with a cache drops the secret.
    ///
    /// The request is sent again with the next result of ``secret(named:)``, a few times with growing pauses.
    func refused(named key: String) async
}

extension SecretSource {
    /// Does nothing, for sources without a cache.
    public func refused(named key: String) async {}
}

/// Reads secrets from environment variables; the source `env`.
public struct EnvironmentSecrets: SecretSource {
    /// The source.
    public init() {}

    /// The variable's value.
    public func secret(named key: String) async throws -> String {
        guard let value = getenv(key), value.pointee != 0 else {
            throw OutboxError(
                .badRequest, "the environment has no variable \(key)",
                advice: "set it where the program is started")
        }
        return String(cString: value)
    }
}

/// Reads secrets from files, without the line break at their end; the source `file`.
public struct FileSecrets: SecretSource {
    /// The source.
    public init() {}

    /// The file's content; at most 64 KiB.
    public func secret(named key: String) async throws -> String {
        // A pipe without a writer must not block the outbox's thread.
        let descriptor = open(key, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(key) }
        defer { close(descriptor) }
        let limit = 64 << 10
        var (text, piece) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
        while text.count <= limit {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(key) }
            if count == 0 { break }
            text += piece[..<count]
        }
        guard text.count <= limit else {
            throw OutboxError(
                .badRequest, "the secret in \(key) has more than 64 KiB",
                advice: "name a file with nothing but the secret")
        }
        while text.last == 10 || text.last == 13 { text.removeLast() }
        guard !text.isEmpty else { throw OutboxError(.badRequest, "the secret in \(key) is empty") }
        return String(decoding: text, as: UTF8.self)
    }

    private func unreadable(_ key: String) -> OutboxError {
        OutboxError(.badRequest, "cannot read the secret in \(key): \(String(cString: strerror(errno)))")
    }
}

/// Hides the secrets of a request in an answer that is stored: servers may repeat what they were sent.
enum SecretMask {
    /// The bytes with asterisks in the place of each secret of four bytes or more, as it was sent.
    static func masked(_ bytes: [UInt8], _ secrets: [String]) -> [UInt8] {
        secrets.map { Array($0.utf8) }.filter { $0.count >= 4 }.reduce(bytes) { hide($1, in: $0) }
    }

    private static func hide(_ secret: [UInt8], in bytes: [UInt8]) -> [UInt8] {
        var (masked, start) = ([UInt8](), 0)
        while let found = position(of: secret, in: bytes, from: start) {
            masked += bytes[start..<found] + Array("****".utf8)
            start = found + secret.count
        }
        return start == 0 ? bytes : masked + bytes[start...]
    }

    private static func position(of secret: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        var at = start
        while at + secret.count <= bytes.count {
            if bytes[at] == secret[0], bytes[at..<at + secret.count].elementsEqual(secret) { return at }
            at += 1
        }
        return nil
    }
}
