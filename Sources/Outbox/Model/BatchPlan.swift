// SPDX-License-Identifier: Apache-2.0

/// What the requests of one batch have in common.
struct BatchKind: Sendable, Equatable {
    var method = "POST"
    var url: String
    var header = ""
    var secrets = ""
    /// The network condition, by its number.
    var condition = 0
    var timeout: Int64?
    var window: OutboxWindow?
    var delay: Int64 = 0
    var gates: [String] = []
}

/// A waiting entry of a lane that joins its requests.
struct BatchCandidate: Sendable, Equatable {
    var id: OutboxID
    /// Of the content, in bytes.
    var size: Int64
    /// In milliseconds since 1970.
    var created: Int64
    /// nil for one that is sent as it is.
    var kind: BatchKind?
}

/// Decides which entries of a lane form the next batch, and whether it is sent yet.
///
/// Times are milliseconds since 1970.
///
/// Entries are offered in the lane's order; the first that does not fit ends the batch.
struct BatchPlan: Sendable, Equatable {
    /// In the lane's order.
    private(set) var members: [OutboxID]
    /// The bytes of the joined contents.
    private(set) var bytes: Int64
    /// Whether nothing more can join.
    private(set) var isClosed: Bool
    /// When it is sent although others could join.
    let due: Int64

    private let kind: BatchKind?
    private let count: Int
    private let limit: Int64
    private let overhead: Int64

    /// - Parameters:
    ///   - ceiling: a limit of bytes below the rule's, by which a server has refused larger batches.
    ///   - now: bounds the wait of an entry that was stored in the future, before the clock was set back.
    init(first: BatchCandidate, rule: BatchRule, ceiling: Int64? = nil, now: Int64) {
        members = [first.id]
        kind = first.kind
        count = rule.count
        limit = min(rule.maximumBytes, ceiling ?? .max)
        overhead = rule.form.overhead
        bytes = first.size + overhead
        isClosed = first.kind == nil || rule.count == 1 || bytes >= limit
        due = min(first.created, now) + rule.age
    }

    /// Whether the first entry is sent as it is.
    var isAlone: Bool { kind == nil }

    /// How many more entries may join.
    var room: Int { isClosed ? 0 : count - members.count }

    /// Has the next entry of the lane join, or ends the batch.
    mutating func offer(_ next: BatchCandidate) {
        guard !isClosed else { return }
        guard next.kind == kind, bytes + next.size + overhead <= limit else { return isClosed = true }
        members.append(next.id)
        bytes += next.size + overhead
        isClosed = members.count >= count || bytes >= limit
    }

    /// Whether it is sent now.
    func isDue(at now: Int64) -> Bool { isClosed || now >= due }
}
