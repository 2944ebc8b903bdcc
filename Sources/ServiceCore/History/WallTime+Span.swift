// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

// A wall time reaches 292 years to either side of 1970: between two of them lies up to twice as much as its nanoseconds can count.
extension WallTime {
    /// How long it is from `earlier` to this moment, exactly, however far apart they are.
    package func time(since earlier: WallTime) -> Duration {
        .nanoseconds(nanoseconds) - .nanoseconds(earlier.nanoseconds)
    }

    /// The moment so many nanoseconds later, or earlier; the last or the first one there is where it would lie beyond.
    package func moved(by nanoseconds: Int64) -> WallTime {
        let (sum, isBeyond) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return WallTime(nanoseconds: isBeyond ? (nanoseconds < 0 ? .min : .max) : sum)
    }

    /// The moment so many seconds after 1970; the last or the first one there is where it would lie beyond.
    package init(seconds: Int64) {
        let (product, isBeyond) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        self.init(nanoseconds: isBeyond ? (seconds < 0 ? .min : .max) : product)
    }

    /// The beginnings and ends of `count` parts of the time until `end`, all of one length but for nanoseconds.
    package func edges(to end: WallTime, count: Int) -> [WallTime] {
        // The difference always fits into the unsigned number, and the sum stays before the end.
        let length = UInt64(bitPattern: end.nanoseconds &- nanoseconds)
        let part = length / UInt64(max(1, count))
        return (0...count).map { WallTime(nanoseconds: nanoseconds &+ Int64(bitPattern: part &* UInt64($0))) }
    }
}

extension Duration {
    /// The whole milliseconds.
    var inMilliseconds: Int64 {
        Int64(clamping: attoseconds / 1_000_000_000_000_000)
    }
}
