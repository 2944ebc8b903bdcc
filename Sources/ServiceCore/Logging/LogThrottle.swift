// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Lets so many lines pass in a minute, and counts the rest.
package struct LogThrottle: Sendable {
    /// What becomes of a line.
    package enum Verdict: Sendable, Equatable {
        /// It is written; before it a line that says how many were left out, where some were.
        case write(leftOut: Int)
        case leaveOut
    }

    package static let window: Int64 = 60_000_000_000

    /// So many in a minute, at least one.
    package var limit: Int
    private var windowStart: Int64 = .min
    private var written = 0
    private var leftOut = 0
    /// All that were left out since the start.
    package private(set) var total: UInt64 = 0

    /// - Parameter limit: So many in a minute, at least one.
    package init(limit: Int) { self.limit = max(1, limit) }

    /// Judges a line of this instant.
    package mutating func judge(at instant: MonotonicInstant) -> Verdict {
        if windowStart == .min || instant.nanoseconds - windowStart >= Self.window {
            windowStart = instant.nanoseconds
            written = 0
        }
        guard written < limit else {
            leftOut += 1
            total += 1
            return .leaveOut
        }
        written += 1
        defer { leftOut = 0 }
        return .write(leftOut: leftOut)
    }

    /// When the count of skipped lines is due without a further line; nil without any.
    package var deadline: MonotonicInstant? {
        leftOut > 0 ? MonotonicInstant(nanoseconds: windowStart + Self.window) : nil
    }

    /// Takes the count for a line of its own.
    package mutating func consumeLeftOut() -> Int {
        defer { leftOut = 0 }
        return leftOut
    }
}

/// How urgent a line of the log is: the numbers of syslog(3), which the journal reads as `<6>` before a line.
package enum LogPriority: Int, Sendable, Comparable, CaseIterable {
    case critical = 2
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
    case debug = 7

    /// More urgent is less.
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Whether the journal reads a descriptor: `JOURNAL_STREAM` names its device and inode (systemd.exec(5)).
package enum JournalStream {
    package static func matches(_ variable: String?, device: UInt64, inode: UInt64) -> Bool {
        let parts = (variable ?? "").split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 && UInt64(parts[0]) == device && UInt64(parts[1]) == inode
    }
}
