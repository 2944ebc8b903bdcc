// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// A gate that is held: entries that name it wait, and their lanes with them.
///
/// What a gate stands for is the program's or the administrator's affair: a low battery, maintenance.
public struct OutboxGate: Sendable, Equatable {
    /// Its name.
    public let name: String
    /// Why it is held, in words; may be empty.
    public let reason: String
    /// Since when it is held.
    public let since: Date
    /// When it is released by itself; nil for never.
    public let until: Date?

    package init(name: String, reason: String, since: Date, until: Date?) {
        (self.name, self.reason, self.since, self.until) = (name, reason, since, until)
    }

    /// Why an entry waits.
    var sentence: String {
        let end = until.map { ", until \(WallClock.text(WallClock.milliseconds($0)))" } ?? ""
        return "gate \(name) is held\(reason.isEmpty ? "" : ": \(reason)")\(end)"
    }
}
