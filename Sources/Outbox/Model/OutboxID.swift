// SPDX-License-Identifier: Apache-2.0

/// The number of an entry in its outbox; later entries have greater numbers, and no number is reused.
public struct OutboxID: RawRepresentable, Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    /// The number.
    public let rawValue: Int64
    /// The entry with this number.
    public init(rawValue: Int64) { self.rawValue = rawValue }
    /// The number in digits.
    public var description: String { "\(rawValue)" }
    /// Older entries come first.
    public static func < (left: OutboxID, right: OutboxID) -> Bool { left.rawValue < right.rawValue }
}

/// The confirmation that a request is stored on the disk.
public struct OutboxReceipt: Sendable, Hashable {
    /// The entry's number.
    public let id: OutboxID
    /// The value of `Idempotency-Key`, the same with each attempt.
    public let idempotencyKey: String
    /// Whether an entry with this key, or with this name and ``OutboxRequest/Uniqueness/keep``, existed
    /// already and this is its receipt; nothing was added.
    public let isRepeated: Bool
    /// The entries with its name whose place it has taken; one that is on its way ends first.
    public let replaced: [OutboxID]

    package init(
        id: OutboxID, idempotencyKey: String, isRepeated: Bool = false, replaced: [OutboxID] = []
    ) {
        self.id = id
        self.idempotencyKey = idempotencyKey
        self.isRepeated = isRepeated
        self.replaced = replaced
    }
}
