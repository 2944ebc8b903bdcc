// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Limits the lines in a minute and counts those above the limit.
package struct LogThrottle: Sendable {
    /// The decision about a line.
    package enum Verdict: Sendable, Equatable {
        /// Write it; if `leftOut` is not zero, after a line with that count.
        case write(leftOut: Int)
        case leaveOut
    }

    package static let window: Int64 = 60_000_000_000

    /// The most lines in a minute, at least one.
    package var limit: Int
    private var windowStart: Int64 = .min
    private var written = 0
    private var leftOut = 0
    /// All skipped lines since the start.
    package private(set) var total: UInt64 = 0

    /// - Parameter limit: the most lines in a minute, at least one.
    package init(limit: Int) { self.limit = max(1, limit) }

    /// Decides about a line at this instant.
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

    /// Returns and resets the count, for a line of its own.
    package mutating func consumeLeftOut() -> Int {
        defer { leftOut = 0 }
        return leftOut
    }
}

/// The priority of a log line: the numbers of syslog(3), which the journal reads as `<6>` before a line.
package enum LogPriority: Int, Sendable, Comparable, CaseIterable {
    case critical = 2
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
    case debug = 7

    /// More urgent priorities are less.
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Whether the journal reads a descriptor: `JOURNAL_STREAM` names its device and inode (systemd.exec(5)).
package enum JournalStream {
    package static func matches(_ variable: String?, device: UInt64, inode: UInt64) -> Bool {
        let parts = (variable ?? "").split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 && UInt64(parts[0]) == device && UInt64(parts[1]) == inode
    }
}
