// SPDX-License-Identifier: Apache-2.0

/// What the kernel knows about one TCP connection (TCP_INFO, tcp(7); `struct tcp_info` in linux/tcp.h).
///
/// Times are nanoseconds.
package struct ConnectionHealth: Sendable, Equatable {
    /// Whether the peer has answered the SYN.
    package var isConnected = true
    /// Segments that the peer has not acknowledged.
    package var unacknowledged = 0
    /// Whether bytes wait for the peer to have room for them: probes are window probes then (RFC 9293
    /// §3.8.6.1), and keepalive probes otherwise.
    package var hasQueuedBytes = false
    /// Probes that the peer has not answered.
    package var probes = 0
    /// The time since a probe was first seen without an answer.
    package var sinceProbe: Int64 = 0
    /// The time since the last acknowledgement.
    package var sinceAcknowledgement: Int64 = 0
    /// The time after which a silent connection sends its first keepalive probe.
    package var keepaliveIdle: Int64 = 0
    /// The smoothed round-trip time and its variation (RFC 6298).
    package var roundTrip: Int64 = 0
    package var roundTripVariation: Int64 = 0

    package init() {}
}

/// Tells a dead line from a slow server: a slow server still acknowledges.
package enum AcknowledgementRules {
    /// The state of a connection whose transfers have moved no byte for a while.
    package enum Verdict: Sendable, Equatable {
        /// The peer has acknowledged everything; a keepalive probe shows whether it still would.
        case silent
        /// The peer owes an acknowledgement, but not for long enough.
        case waiting
        /// The peer owes an acknowledgement for too long.
        case deaf
    }

    /// How long a transfer moves no byte before its connection is looked at: 1 s.
    package static let silence: Int64 = 1_000_000_000
    /// How long the peer may owe an acknowledgement: 2 s.
    package static let patience: Int64 = 2_000_000_000
    /// The same where a probe has found internet behind another uplink: 1 s.
    package static let shortPatience: Int64 = 1_000_000_000
    /// The same where it has found none behind the connection's own line: 500 ms.
    package static let leastPatience: Int64 = 500_000_000
    /// How long a SYN waits before other uplinks are tried: 250 ms (RFC 8305 §5 for addresses).
    package static let connectPatience: Int64 = 250_000_000

    /// Judges a connection.
    ///
    /// - Parameters:
    ///   - silence: The time since a transfer of the connection has moved a byte, or since the SYN.
    ///   - patience: How long the peer may owe an acknowledgement.
    package static func verdict(
        _ health: ConnectionHealth, silence: Int64, patience: Int64 = Self.patience
    ) -> Verdict {
        guard health.isConnected else { return silence >= connectPatience ? .deaf : .waiting }
        let margin = 3 &* (health.roundTrip &+ 4 &* health.roundTripVariation)
        if health.unacknowledged > 0 {
            let owed = min(health.sinceAcknowledgement, silence)
            return owed >= max(patience, margin) ? .deaf : .waiting
        }
        guard health.probes > 0 else { return health.hasQueuedBytes ? .waiting : .silent }
        if health.hasQueuedBytes { return health.sinceProbe >= max(patience, margin) ? .deaf : .waiting }
        // The first probe left when the connection had been idle for so long.
        let owed = health.sinceAcknowledgement &- health.keepaliveIdle
        let limit = max(patience &- self.silence, connectPatience, margin)
        return owed >= limit && health.sinceAcknowledgement >= patience ? .deaf : .waiting
    }
}
