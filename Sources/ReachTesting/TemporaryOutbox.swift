// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
public import Outbox

/// An outbox in a folder of its own, which goes away with this object.
///
/// In memory where the system has /dev/shm.
///
///     let store = try await TemporaryOutbox()
///     try await store.outbox.startDelivery(with: manager)
///
/// All of an outbox is real: database, lanes, retries, dead letters. Its pauses pass in real time, whatever
/// clock the manager has: a configuration without one has pauses of a millisecond.
public final class TemporaryOutbox: Sendable {
    /// The outbox.
    public let outbox: RequestOutbox
    /// The folder of its files; another ``Outbox/RequestOutbox`` may open it, as after a restart.
    public let folder: String
    private let parent: String

    /// An empty outbox.
    ///
    /// - Parameter configuration: how it stores and delivers; nil for the defaults with short pauses.
    /// - Throws: ``Outbox/OutboxError``, and ``ExpectationFailure`` where no folder can be made.
    public init(_ configuration: OutboxConfiguration? = nil) async throws {
        let parent = try Self.makeFolder()
        folder = parent + "/outbox"
        self.parent = parent
        do {
            outbox = try await RequestOutbox(at: folder, configuration: configuration ?? .quick)
        } catch {
            try? FileManager.default.removeItem(atPath: parent)
            throw error
        }
    }

    deinit {
        let (outbox, parent) = (outbox, parent)
        Task.detached {
            await outbox.close()
            try? FileManager.default.removeItem(atPath: parent)
        }
    }

    /// Ends the delivery and removes the files; returns when they are gone.
    public func close() async {
        await outbox.close()
        try? FileManager.default.removeItem(atPath: parent)
    }

    private static func makeFolder() throws -> String {
        let folders = ["/dev/shm", getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"]
        for folder in folders {
            var template = Array("\(folder)/reach-outbox-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { continue }
            return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        throw ExpectationFailure(
            "no folder can be made in \(folders.joined(separator: " or ")): \(String(cString: strerror(errno)))"
        )
    }
}

extension OutboxConfiguration {
    /// The defaults with pauses of a millisecond, for tests that do not wait.
    public static var quick: OutboxConfiguration {
        var configuration = OutboxConfiguration()
        configuration.retries.first = .milliseconds(1)
        configuration.retries.longest = .milliseconds(1)
        configuration.retries.slow = .milliseconds(1)
        return configuration
    }
}
