// SPDX-License-Identifier: Apache-2.0

/// Amounts as people read them.
package enum AmountText {
    /// Bytes in decimal units, as `999 B`, `1.2 MB`, `12.0 GB`.
    package static func bytes(_ count: Int64) -> String {
        guard count >= 1000 else { return "\(max(0, count)) B" }
        var tenths = count / 100
        var unit = 0
        while tenths >= 10_000, unit < units.count - 1 {
            tenths /= 1000
            unit += 1
        }
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    private static let units = ["kB", "MB", "GB", "TB", "PB", "EB"]

    /// Bytes in a second, as `1.2 MB/s`.
    package static func rate(_ bytesPerSecond: Double) -> String {
        "\(bytes(bytesPerSecond >= 9e18 ? .max : Int64(max(0, bytesPerSecond))))/s"
    }

    /// How long something took: `0.034 s`, `3.4 s`, `2 min 5 s`, `1 h 2 min`.
    package static func seconds(_ duration: Duration) -> String {
        let milliseconds = max(0, duration / .milliseconds(1))
        if milliseconds < 100 { return "0.0\(padded(Int64(milliseconds))) s" }
        let whole = Int64(milliseconds / 1000)
        switch whole {
        case ..<60: return "\(whole).\(Int64(milliseconds / 100) % 10) s"
        case ..<3600: return "\(whole / 60) min \(whole % 60) s"
        default: return "\(whole / 3600) h \(whole / 60 % 60) min"
        }
    }

    /// How long something will take: `0:06`, `12:03`, `1:02:03`; `--:--` from 100 hours on.
    package static func clock(_ duration: Duration) -> String {
        // A division of durations may end a hair above the whole seconds.
        let all = Int64(min(1e9, max(0, (duration / .seconds(1) - 0.001).rounded(.up))))
        let (hours, minutes, seconds) = (all / 3600, all / 60 % 60, all % 60)
        if hours >= 100 { return "--:--" }
        return hours > 0 ? "\(hours):\(padded(minutes)):\(padded(seconds))" : "\(minutes):\(padded(seconds))"
    }

    private static func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
