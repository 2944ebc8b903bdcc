// SPDX-License-Identifier: Apache-2.0

/// How many refreshes are too many.
public struct RefreshWindow: Sendable, Equatable {
    /// In which time; 30 s.
    public var interval: Duration
    /// How many refreshes are allowed in it; 5.
    public var limit: Int

    /// A window.
    public init(interval: Duration = .seconds(30), limit: Int = 5) {
        self.interval = interval
        self.limit = limit
    }
}
