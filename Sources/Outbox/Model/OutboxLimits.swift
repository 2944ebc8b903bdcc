// SPDX-License-Identifier: Apache-2.0

/// How much an outbox holds, and what happens at the limit.
public struct OutboxLimits: Sendable, Equatable {
    /// What is dropped to make space for a new request.
    public enum Policy: String, Sendable, Codable, CaseIterable {
        /// Nothing: the new request is refused with an error.
        case refuse
        /// The oldest dead letters, then the oldest waiting requests, then scheduled ones.
        case dropOldest
        /// Expired requests and dead letters; if that is not enough, the new request is refused.
        case dropExpiredFirst
    }

    /// The most entries, dead letters included; 100,000.
    public var maximumEntries = 100_000
    /// The most bytes of content, dead letters included; 1 GiB.
    public var maximumBytes: Int64 = 1 << 30
    /// The most bytes of a request's content; 256 MiB.
    public var maximumBodySize: Int64 = 256 << 20
    /// What is dropped; nothing.
    public var policy = Policy.refuse
    /// The most bytes of a server's answer that are stored with a dead letter or a result; 4 KiB.
    ///
    /// Beside them up to 8 KiB of its head are stored with a dead letter, and 1 KiB with a result. With 0
    /// results have no answer but the status, which spares the disk a tenth of what a delivery writes.
    public var maximumReplySize = 4 << 10

    /// The folders into which files are fetched, and below which; none.
    ///
    /// Absolute paths. Each, and each folder below it that a file goes into, has to belong to root or to the
    /// user that delivers, and no other user than its owner and group may write it.
    public var downloadFolders: [String] = []
    /// The most bytes of a file that is fetched; 1 GiB.
    public var maximumDownloadSize: Int64 = 1 << 30

    /// The defaults.
    public init() {}

    package enum Admission: Sendable, Equatable {
        case admit
        /// Drop the oldest, so many and until so many bytes are free.
        case drop(DropOrder, entries: Int, bytes: Int64)
        case refuse(String)
    }

    /// What is dropped, in this order.
    package enum DropOrder: Sendable, Equatable {
        case expiredThenDead
        case expiredThenDeadThenOldest
    }

    /// Whether a request of this size fits beside `counts`.
    package func admission(of size: Int64, beside counts: OutboxCounts) -> Admission {
        guard size <= maximumBodySize, size <= maximumBytes else {
            return .refuse(
                "its content of \(size) bytes is larger than \(min(maximumBodySize, maximumBytes))")
        }
        guard maximumEntries > 0 else { return .refuse("the outbox takes no entries at all") }
        let entries = counts.waiting + counts.dead + 1 - maximumEntries
        let bytes = counts.bytes + size - maximumBytes
        guard entries > 0 || bytes > 0 else { return .admit }
        switch policy {
        case .refuse:
            return .refuse(
                entries > 0
                    ? "the outbox has \(counts.waiting + counts.dead) entries already"
                    : "the outbox holds \(counts.bytes) bytes already")
        case .dropOldest:
            return .drop(.expiredThenDeadThenOldest, entries: max(entries, 0), bytes: max(bytes, 0))
        case .dropExpiredFirst: return .drop(.expiredThenDead, entries: max(entries, 0), bytes: max(bytes, 0))
        }
    }
}
