// SPDX-License-Identifier: Apache-2.0

/// How an outbox stores and delivers.
public struct OutboxConfiguration: Sendable {
    /// How much it holds, and what gives way.
    public var limits = OutboxLimits()
    /// When what failed is sent again.
    public var retries = RetrySchedule()
    /// How many requests are on their way at once, for each network condition; 16.
    public var maximumDeliveries = 16
    /// How many of them go to one host; 4.
    public var maximumDeliveriesPerHost = 4
    /// How long a transfer may be silent; 60 s.
    public var timeout: Duration = .seconds(60)
    /// Whether the database is checked from end to end when it is opened; true.
    ///
    /// What is damaged is noticed without it too, but only when it is read.
    public var checksIntegrity = true
    /// Where secrets come from, by the names that ``SecretField/source`` uses; `env` and `file`.
    public var secretSources: [String: any SecretSource] = [
        "env": EnvironmentSecrets(), "file": FileSecrets(),
    ]

    /// Whether the limits that another process has kept in the outbox count more than ``limits``.
    package var usesStoredLimits = false

    /// So many bytes of the database may be free before it is made smaller.
    package var spareSpace: Int64 = 4 << 20

    /// The defaults.
    public init() {}
}
