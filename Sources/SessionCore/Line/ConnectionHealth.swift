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
