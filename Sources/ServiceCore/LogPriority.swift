// SPDX-License-Identifier: Apache-2.0

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
