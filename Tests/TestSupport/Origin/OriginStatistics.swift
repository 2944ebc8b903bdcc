// SPDX-License-Identifier: Apache-2.0

/// The counters of a key that a test can wait for.
package enum OriginCounter: String, Sendable {
    case count, active, peak, finished, aborted, sent, received, connections, open, peakOpen
}

/// The test origin's record of the requests with one key.
package struct OriginStatistics: Sendable, Decodable {
    /// How many have arrived.
    package let count: Int
    /// The requests being answered, and the most at one time.
    package let active: Int
    package let peak: Int
    /// The requests answered completely, and those that were not, because the client left or by a fault.
    package let finished: Int
    package let aborted: Int
    /// Bytes of bodies.
    package let sent: Int
    package let received: Int
    /// How many by method.
    package let methods: [String: Int]
    /// The number of connections; the open ones, and the most at one time, only without nginx.
    package let connections: Int
    package let open: Int
    package let peakOpen: Int
    /// `GET /path?query` of each request, in order, the last ten thousand.
    package let requests: [String]
    /// The `Authorization` of each of these, empty if there was none.
    package let authorizations: [String]
}

/// The bytes of `/bytes`, `/range` and similar paths.
package enum OriginContent {
    /// Byte `index`.
    package static func byte(_ index: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: index &+ 17 &* (index >> 8) &+ 101 &* (index >> 16))
    }

    /// The bytes of a range; version v of a resource is shifted by v − 1.
    package static func bytes(_ range: Range<Int>, version: Int = 1) -> [UInt8] {
        range.map { byte($0 + version - 1) }
    }
}
