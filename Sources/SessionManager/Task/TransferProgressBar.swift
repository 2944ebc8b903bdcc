// SPDX-License-Identifier: Apache-2.0

/// A transfer's progress as a line of text: bar, percent, bytes, rate and the time that is left.
///
/// A value without a clock and without a terminal: it gets how far the transfer is and when, and says what
/// to show. Where the total is unknown it shows bytes and rate.
///
///     var bar = TransferProgressBar()
///     bar.update(task.downloadProgress.snapshot, at: start.duration(to: .now))
///     print("\r" + bar.line(columns: 80), terminator: "\u{1B}[K")
public struct TransferProgressBar: Sendable, Equatable {
    /// Whether the bar is drawn with lines of Unicode, or of ASCII.
    public var isUnicode: Bool
    /// How far the transfer is.
    public private(set) var progress = TransferProgress.Snapshot(completedBytes: 0, totalBytes: nil)
    /// Bytes of an earlier transfer that this one continues; they count as done, not as fast.
    private var offset: Int64
    /// Moments of the last seconds, the oldest first.
    private var samples: [Sample] = []

    private struct Sample: Equatable {
        var at: Duration
        var bytes: Int64
    }

    /// The rate is that of about so long.
    private static let window = Duration.seconds(5)
    private static let spacing = Duration.milliseconds(250)

    /// A bar at its beginning, or where an earlier transfer stopped.
    public init(resumedAt offset: Int64 = 0, isUnicode: Bool = true) {
        self.offset = offset
        self.isUnicode = isUnicode
    }

    /// Notes how far the transfer is, so long after its start.
    public mutating func update(_ progress: TransferProgress.Snapshot, at elapsed: Duration) {
        self.progress = progress
        // Less than the offset: the server began anew.
        if progress.completedBytes > 0, progress.completedBytes < offset { offset = 0 }
        let sample = Sample(at: elapsed, bytes: max(0, progress.completedBytes - offset))
        if samples.isEmpty { samples.append(Sample(at: .zero, bytes: 0)) }
        if samples.count > 1, let before = samples.dropLast().last, sample.at - before.at < Self.spacing {
            samples[samples.count - 1] = sample
        } else {
            samples.append(sample)
        }
        while samples.count > 2, sample.at - samples[1].at >= Self.window { samples.removeFirst() }
    }

    /// Bytes in a second during the last seconds; 0 while nothing has come.
    public var bytesPerSecond: Double {
        guard let first = samples.first, let last = samples.last, last.at > first.at else { return 0 }
        return Double(last.bytes - first.bytes) / ((last.at - first.at) / .seconds(1))
    }

    /// What is left to wait; nil while unknown.
    public var timeLeft: Duration? {
        guard let total = progress.totalBytes, bytesPerSecond >= 1 else { return nil }
        return .seconds(Double(max(0, total - progress.completedBytes)) / bytesPerSecond)
    }

    /// The line for a terminal, one column narrower than it: ` 43 % ━━━━━━──────  5.1 of 12.0 MB  1.2 MB/s
    /// 0:06 left`.
    public func line(columns: Int = 80) -> String {
        let room = max(8, columns - 1)
        guard let total = progress.totalBytes else {
            return Self.fitting([Self.column(AmountText.bytes(progress.completedBytes), 8), rate], room)
        }
        let amount = "\(AmountText.bytes(progress.completedBytes)) of \(AmountText.bytes(total))"
        let words = [Self.column(amount, 20), rate, Self.column(rest, 10)]
        let tail = words.reduce("") { "\($0)  \($1)" }
        let bar = room - percent.utf8.count - 1 - tail.utf8.count
        guard bar >= 10 else { return Self.fitting([percent] + words, room) }
        return "\(percent) \(drawing(width: bar))\(tail)"
    }

    /// The line for a log: `43 %, 5.1 MB of 12.0 MB, 1.2 MB/s, 0:06 left`; without what is not known.
    public var plainLine: String {
        let speed = AmountText.rate(bytesPerSecond)
        guard let total = progress.totalBytes else {
            return "\(AmountText.bytes(progress.completedBytes)), \(speed)"
        }
        let amount = "\(AmountText.bytes(progress.completedBytes)) of \(AmountText.bytes(total))"
        let rest = timeLeft.map { ", \(AmountText.clock($0)) left" } ?? ""
        return "\(percentage) %, \(amount), \(speed)\(rest)"
    }

    /// Whole percents, which are 100 only at the end.
    private var percentage: Int { Int(progress.fractionCompleted * 100) }
    private var percent: String { Self.column("\(percentage) %", 5) }
    private var rate: String { Self.column(AmountText.rate(bytesPerSecond), 10) }
    private var rest: String { timeLeft.map { "\(AmountText.clock($0)) left" } ?? "--:-- left" }

    private func drawing(width: Int) -> String {
        let done = min(width, Int(progress.fractionCompleted * Double(width)))
        if isUnicode {
            return String(repeating: "━", count: done) + String(repeating: "─", count: width - done)
        }
        let inner = width - 2
        let filled = min(inner, Int(progress.fractionCompleted * Double(inner)))
        return "[\(String(repeating: "#", count: filled))\(String(repeating: "-", count: inner - filled))]"
    }

    /// As many of the words as there is room for.
    private static func fitting(_ words: [String], _ room: Int) -> String {
        var line = ""
        for word in words {
            let longer = line.isEmpty ? word : "\(line)  \(word)"
            guard longer.utf8.count <= room else { break }
            line = longer
        }
        return line
    }

    /// Right-aligned, so that a line does not jump.
    private static func column(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.utf8.count)) + text
    }
}

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
