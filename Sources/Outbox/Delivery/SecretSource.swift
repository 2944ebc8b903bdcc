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
