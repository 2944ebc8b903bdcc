// SPDX-License-Identifier: Apache-2.0

/// How those that have waited for the network start when it is back: a few at once, then more and more, so
/// that neither the link nor the server is hit by all of them in one moment.
///
/// Their order is kept. The default lets 100 go within a seventh of a second.
public struct RequestRamp: Sendable, Equatable, Codable {
    /// How many start at once; each further step lets twice as many go as the one before; 2.
    public var first = 2
    /// How long a step takes on average; 20 ms.
    ///
    /// Zero lets all go at once.
    public var interval = Duration.milliseconds(20)
    /// By which part of itself a step is longer or shorter at random, 0 to 1; one half.
    ///
    /// Devices that lost the same network come back spread.
    public var jitter = 0.5

    /// The defaults.
    public init() {}

    /// All at once.
    public static var none: RequestRamp {
        var ramp = RequestRamp()
        ramp.interval = .zero
        return ramp
    }
}

/// A ramp on its way.
struct RampProgress: Sendable {
    /// How many may still start before the next step.
    private(set) var credits: Int
    private(set) var deadline: Int64
    private var size: Int
    private let interval: Int64
    private let jitter: Double

    /// Begins; nil where all may start at once.
    init?(_ ramp: RequestRamp, at now: Int64, random: UInt64) {
        interval = Int64(
            truncatingIfNeeded: min(max(ramp.interval, .zero), .seconds(3600)).attoseconds / 1_000_000_000)
        guard interval > 0 else { return nil }
        jitter = min(max(ramp.jitter, 0), 1)
        size = min(max(ramp.first, 1), 1 << 20)
        credits = size
        deadline = now
        deadline = now &+ step(random)
    }

    /// A step later.
    mutating func advance(at now: Int64, random: UInt64) {
        size = min(size * 2, 1 << 20)
        credits = min(credits + size, 1 << 20)
        deadline = now &+ step(random)
    }

    mutating func spend() { credits -= 1 }

    private func step(_ random: UInt64) -> Int64 {
        // 53 random bits make a fraction from 0 to 1.
        let fraction = Double(random >> 11) * 0x1p-53
        return max(1, Int64(Double(interval) * (1 + jitter * (2 * fraction - 1))))
    }
}
