// SPDX-License-Identifier: Apache-2.0

import Glibc
import SessionCore

/// A TCP socket as the kernel knows it, and the keepalive probes that it sends (tcp(7)).
struct TCPConnection {
    let descriptor: Int32

    /// How long a silent connection waits for its first keepalive probe, in seconds, and between two; libcurl
    /// sets 60 (CURLOPT_TCP_KEEPIDLE(3)).
    private static let ordinaryPause: Int32 = 60
    /// TCP_KEEPCNT without a word (tcp_keepalive_probes in tcp(7)), and the most that the kernel takes.
    private static let ordinaryProbes: Int32 = 9
    private static let mostProbes: Int32 = 127

    /// Its state; nil for what is no TCP socket.
    ///
    /// - Parameter idle: Seconds until the first keepalive probe.
    func health(keepaliveIdle idle: Int32?) -> ConnectionHealth? {
        var info = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 else { return nil }
        var health = ConnectionHealth()
        health.isConnected = Int(info.tcpi_state) != TCP_SYN_SENT
        health.unacknowledged = Int(info.tcpi_unacked)
        var queued: Int32 = 0
        health.hasQueuedBytes = ioctl(descriptor, UInt(TIOCOUTQ), &queued) == 0 && queued > 0
        health.probes = Int(info.tcpi_probes)
        health.sinceAcknowledgement = Int64(info.tcpi_last_ack_recv) &* 1_000_000
        health.keepaliveIdle = Int64(idle ?? Self.ordinaryPause) &* 1_000_000_000
        health.roundTrip = Int64(info.tcpi_rtt) &* 1_000
        health.roundTripVariation = Int64(info.tcpi_rttvar) &* 1_000
        health.queuedBytes = Int(queued)
        health.segment = Int(info.tcpi_snd_mss)
        health.backoff = Int(info.tcpi_backoff)
        health.selectivelyAcknowledged = Int(info.tcpi_sacked)
        if health.backoff >= AcknowledgementRules.largeBackoff { count(&health) }
        return health
    }

    /// Adds what the peer has acknowledged: tcpi_bytes_acked and tcpi_delivered (linux/tcp.h), which the
    /// structure of libc lacks.
    ///
    /// Unknown before Linux 4.18: then as much as if all of it had been full segments.
    private func count(_ health: inout ConnectionHealth) {
        var bytes = [UInt8](repeating: 0, count: 200)
        var length = socklen_t(bytes.count)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &bytes, &length) == 0, length >= 196 else {
            return health.acknowledgedBytes = .max
        }
        bytes.withUnsafeBytes { bytes in
            health.acknowledgedBytes = bytes.loadUnaligned(fromByteOffset: 120, as: UInt64.self)
            health.acknowledgedSegments = UInt64(
                bytes.loadUnaligned(fromByteOffset: 192, as: UInt32.self))
        }
    }

    /// Sends a keepalive probe each second once nothing has come for so many seconds.
    ///
    /// The most probes before the kernel gives the connection up: a line may be dead for minutes.
    func probe(after idle: Int32) {
        set(TCP_KEEPCNT, Self.mostProbes)
        set(TCP_KEEPINTVL, 1)
        set(TCP_KEEPIDLE, idle)
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends keepalive probes as rarely as libcurl wants.
    func endProbing() {
        set(TCP_KEEPIDLE, Self.ordinaryPause)
        set(TCP_KEEPINTVL, Self.ordinaryPause)
        set(TCP_KEEPCNT, Self.ordinaryProbes)
    }

    private func set(_ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, Int32(IPPROTO_TCP), option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
