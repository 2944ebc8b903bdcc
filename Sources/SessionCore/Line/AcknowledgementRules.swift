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
    /// How often the time-out of the first segment has doubled without an acknowledgement.
    package var backoff = 0
    /// The content of a full segment, in bytes.
    package var segment = 0
    /// Bytes that wait for an acknowledgement, or to be sent.
    package var queuedBytes = 0
    /// Segments behind a missing one that the peer has (RFC 2018).
    package var selectivelyAcknowledged = 0
    /// Bytes and segments that the peer has acknowledged since the connection began.
    package var acknowledgedBytes: UInt64 = 0
    package var acknowledgedSegments: UInt64 = 0

    package init() {}
}

/// Distinguishes a dead line from a slow server: a slow server still acknowledges.
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

    // MARK: Large packets

    /// How often the time-out has to double: with a fifth of all packets lost, a line that works does so once
    /// in 15,000 times.
    package static let largeBackoff = 5
    /// What every link carries (RFC 9293 §3.7.1).
    package static let smallSegment = 536

    /// Whether a deaf connection has sent full segments in vain, and nothing but small ones were ever
    /// acknowledged: a link behind the router has a smaller MTU, and the ICMP that should say so is lost,
    /// where a new connection on the same line is answered (RFC 2923 §2.1).
    ///
    /// Only what this machine sends shows it: where the server's large segments are lost, the connection
    /// acknowledges everything that arrives, and looks like one to a slow server.
    package static func losesLargePackets(_ health: ConnectionHealth) -> Bool {
        let segment = UInt64(max(health.segment, 0))
        return health.isConnected && health.unacknowledged > 0 && health.backoff >= largeBackoff
            && health.segment > smallSegment && health.queuedBytes >= health.segment
            // The short one at the end may have arrived.
            && health.selectivelyAcknowledged <= 1
            && (health.acknowledgedBytes < segment
                || health.acknowledgedBytes <= health.acknowledgedSegments &* segment / 2)
    }
}
