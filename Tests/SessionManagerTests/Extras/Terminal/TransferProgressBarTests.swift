// SPDX-License-Identifier: Apache-2.0

import SessionManager
import Testing

struct TransferProgressBarTests {
    private func bar(
        _ moments: [(Double, Int64)], of total: Int64?, resumedAt: Int64 = 0, unicode: Bool = true
    )
        -> TransferProgressBar
    {
        var bar = TransferProgressBar(resumedAt: resumedAt, isUnicode: unicode)
        for (seconds, bytes) in moments {
            bar.update(.init(completedBytes: bytes, totalBytes: total), at: .seconds(seconds))
        }
        return bar
    }

    @Test("bar, percent, bytes, rate and what is left, at 80 columns")
    func line() {
        let half = bar([(1, 2_000_000), (2, 5_160_000)], of: 12_000_000)
        #expect(
            half.line(columns: 80)
                == " 43 % ━━━━━━━━━━━────────────────     5.1 MB of 12.0 MB    2.5 MB/s   0:03 left")
        #expect(half.plainLine == "43 %, 5.1 MB of 12.0 MB, 2.5 MB/s, 0:03 left")
        let plain = bar([(1, 2_000_000), (2, 5_160_000)], of: 12_000_000, unicode: false)
        #expect(
            plain.line(columns: 80)
                == " 43 % [##########---------------]     5.1 MB of 12.0 MB    2.5 MB/s   0:03 left")
        let end = bar([(2, 100)], of: 100)
        #expect(end.plainLine == "100 %, 100 B of 100 B, 50 B/s, 0:00 left")
        let stalled = bar([(1, 0)], of: 100)
        #expect(stalled.plainLine == "0 %, 0 B of 100 B, 0 B/s")
    }

    @Test("bytes and rate where the total is unknown")
    func unknownTotal() {
        let bar = bar([(2, 1_000_000)], of: nil)
        #expect(bar.line(columns: 80) == "  1.0 MB  500.0 kB/s")
        #expect(bar.plainLine == "1.0 MB, 500.0 kB/s")
    }

    @Test("one column stays free, however narrow", arguments: [1, 10, 20, 30, 40, 60, 79, 80, 81, 200])
    func width(_ columns: Int) {
        for bytes in [0, 999, 123_456_789, Int64.max / 2] {
            let line = bar([(1, bytes)], of: .max).line(columns: columns)
            #expect(line.unicodeScalars.count < max(9, columns))
        }
    }

    @Test("the rate is that of the last seconds; what was there before does not count; a fresh start does")
    func rate() {
        var samples: [(Double, Int64)] = (1...40).map { (Double($0) / 4, Int64($0) * 1000) }
        #expect(bar(samples, of: 100_000).bytesPerSecond == 4000)
        samples += (41...80).map { (Double($0) / 4, 40_000) }
        #expect(bar(samples, of: 100_000).bytesPerSecond == 0)
        #expect(bar(samples, of: 100_000).timeLeft == nil)
        #expect(bar([(1, 43_000), (2, 45_000)], of: 100_000, resumedAt: 43_000).bytesPerSecond == 1000)
        #expect(bar([(1, 1000), (2, 2000)], of: 100_000, resumedAt: 43_000).bytesPerSecond == 1000)
    }

    @Test("amounts as people read them")
    func amounts() {
        #expect(
            [0, 999, 1000, 999_999, 1_000_000, .max].map { AmountText.bytes($0) } == [
                "0 B", "999 B", "1.0 kB", "999.9 kB", "1.0 MB", "9.2 EB",
            ])
        #expect(
            [0.004, 0.034, 3.49, 65, 3720].map { AmountText.seconds(.seconds($0)) } == [
                "0.004 s", "0.034 s", "3.4 s", "1 min 5 s", "1 h 2 min",
            ])
        #expect(
            [0, 5.2, 723, 3723, 1e7].map { AmountText.clock(.seconds($0)) } == [
                "0:00", "0:06", "12:03", "1:02:03", "--:--",
            ])
    }
}
