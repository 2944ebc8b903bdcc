// SPDX-License-Identifier: Apache-2.0

public import SessionCore

/// How an outbox stores and delivers.
public struct OutboxConfiguration: Sendable, Configurable {
    /// How much it holds, and what gives way.
    public var limits = OutboxLimits()
    /// When failed requests are sent again.
    public var retries = RetrySchedule()
    /// The most requests in flight, for each network condition; 16.
    public var maximumDeliveries = 16
    /// The most of them to one host; 4.
    public var maximumDeliveriesPerHost = 4
    /// How long a transfer may be silent; 60 s.
    public var timeout: Duration = .seconds(60)
    /// The lanes that join waiting requests into one, by their names; none by default.
    public var batches: [String: BatchRule] = [:]
    /// What lanes may send over expensive paths in a day, by their names; no limits by default.
    public var budgets: [String: LaneBudget] = [:]
    /// The most bytes a second of each request's content that are sent; nil, the default, for no limit.
    ///
    /// Files are fetched no faster either.
    public var rate: Int64?
    /// The same while the path in use is expensive; nil for ``rate``.
    public var expensiveRate: Int64?
    /// Whether the database is checked completely when it is opened; true.
    ///
    /// Damage is detected without the check too, but only when it is read. A database of more than 32 MiB, as
    /// a hundred thousand small requests have, is in use while it is checked.
    public var checksIntegrity = true
    /// The sources of secrets, by the names that ``SecretField/source`` uses; `env` and `file`.
    public var secretSources: [String: any SecretSource] = [
        "env": EnvironmentSecrets(), "file": FileSecrets(),
    ]

    /// Told of each file that was fetched, when it is in its place and before its entry is removed; nil for
    /// no program.
    ///
    /// Answers whether the program was told. If it was not, or was and this process ends at that moment, it
    /// is told again.
    public var downloadHandler: (@Sendable (FetchedFile) async -> Bool)?

    /// Whether limits that another process has stored in the outbox override ``limits``.
    package var usesStoredLimits = false

    /// The most unused bytes of the database before it is compacted.
    package var spareSpace: Int64 = 4 << 20

    /// The largest database, in bytes, that is checked before it is used.
    package var largestCheckedAtOnce = DatabaseCheck.largestAtOnce

    /// Whether the kernel is asked to tell of changes; if false, as where it refuses.
    package var watchesLog = true

    /// The defaults.
    public init() {}

    /// The limit of a request's content, in bytes a second; nil for none.
    func rate(isExpensive: Bool) -> Int64? { isExpensive ? expensiveRate ?? rate : rate }
}
