// SPDX-License-Identifier: Apache-2.0

/// The space of a file system for a file that is fetched.
///
/// Some of it stays free: the outbox may be on the same file system, and could store nothing on a full one.
struct DownloadRoom: Sendable, Equatable {
    /// What this process may still write, in bytes.
    var free: Int64
    /// The size of the file system.
    var size: Int64

    /// What stays free: a twentieth of the file system, and no more than this.
    private static let largestReserve: Int64 = 16 << 20

    var reserve: Int64 { min(size / 20, Self.largestReserve) }

    /// Why so many more bytes have no room, in a sentence; nil if they have.
    func shortfall(of bytes: Int64) -> String? {
        let available = max(free - reserve, 0)
        guard bytes > available else { return nil }
        return "no room: needs \(Self.text(bytes, .up)), \(Self.text(available, .down)) free"
    }

    /// The same after a write has failed, where the size of the whole is not known.
    static func exhausted(after bytes: Int64) -> String {
        "no room: the disk was full after \(text(bytes, .down))"
    }

    /// An amount for people, rounded so that it promises nothing.
    static func text(_ bytes: Int64, _ rounding: FloatingPointRoundingRule) -> String {
        guard bytes >= 1_000 else { return "\(bytes) bytes" }
        var (value, unit) = (Double(bytes) / 1_000, 0)
        let units = ["kB", "MB", "GB", "TB"]
        while value >= 1_000, unit < units.count - 1 { (value, unit) = (value / 1_000, unit + 1) }
        let tenths = (value * 10).rounded(rounding)
        guard value < 10, Int(tenths) % 10 != 0 else {
            return "\(Int(value.rounded(rounding))) \(units[unit])"
        }
        return "\(Int(tenths) / 10).\(Int(tenths) % 10) \(units[unit])"
    }
}
