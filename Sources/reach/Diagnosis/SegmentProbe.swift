// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CLinux
import Glibc
import Reachability
import ReachabilityCore

/// Finds the largest packet that gets from this machine to a server: one TCP segment for each size, which its
/// acknowledgement confirms.
///
/// What is sent is the beginning of a request that never ends, so that the server does nothing; the
/// connection is reset afterwards. Large packets of the server are another matter: see ``ExchangeProbe``.
struct SegmentProbe {
    /// How long an acknowledgement may take: longer than the first time-out (RFC 6298 §2.4), so that one loss
    /// is repeated.
    private static let patience: Duration = .milliseconds(900)
    private static let tick: Duration = .milliseconds(20)

    let address: IPAddress
    let port: Int

    /// What got through.
    enum Outcome: Equatable {
        /// As much as the link carries.
        case everything
        /// Packets of at most so many bytes, header included.
        case upTo(Int)
        /// Nothing, or no connection: it shows nothing about sizes.
        case unknown
    }

    /// Tries the largest size, and then halves the range; blocks for 10 s at most.
    ///
    /// - Throws: the exit code of a signal.
    func observe() throws(ExitCode) -> Outcome {
        guard let first = try attempt(.max) else { return .unknown }
        if first.isAcknowledged { return .everything }
        var interruption: ExitCode?
        let largest = Self.search(in: ExchangeProbe.smallSegment..<first.content) { size in
            do throws(ExitCode) { return try attempt(size)?.isAcknowledged } catch {
                interruption = error
                return nil
            }
        }
        if let interruption { throw interruption }
        return largest.map { .upTo($0 + first.header) } ?? .unknown
    }

    /// The largest size that gets through, where the end of the range does not; nil where its beginning does
    /// not either, or a try says nothing.
    static func search(in range: Range<Int>, _ getsThrough: (Int) -> Bool?) -> Int? {
        guard !range.isEmpty, getsThrough(range.lowerBound) == true else { return nil }
        var (good, bad) = (range.lowerBound, range.upperBound)
        while bad - good > 1 {
            let middle = good + (bad - good) / 2
            guard let passes = getsThrough(middle) else { return nil }
            if passes { good = middle } else { bad = middle }
        }
        return good
    }

    /// One connection with one segment; nil where there is no connection.
    private func attempt(_ size: Int) throws(ExitCode) -> (content: Int, header: Int, isAcknowledged: Bool)? {
        let isIPv4 = address.family == .ipv4
        let number = socket(
            isIPv4 ? AF_INET : AF_INET6,
            Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard number >= 0 else { return nil }
        defer { close(number) }
        var atOnce = linger(l_onoff: 1, l_linger: 0)
        setsockopt(number, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
        guard
            PeerAddress(address: address, port: UInt16(clamping: port)).connect(number) == 0
                || errno == EINPROGRESS
        else { return nil }
        let connected = ReadinessWait.wait(
            for: number, POLLOUT, until: Clock.monotonic + ConnectionProbe.limit)
        if connected == .interrupted { throw .interrupted }
        guard connected == .ready, let info = Self.info(number), Int(info.tcpi_state) == TCP_ESTABLISHED
        else { return nil }
        let content = min(size, Int(info.tcpi_snd_mss))
        // TCPI_OPT_TIMESTAMPS: 12 bytes in each segment (RFC 7323).
        let header = (isIPv4 ? 40 : 60) + (info.tcpi_options & 1 != 0 ? 12 : 0)
        let bytes = Array("GET / HTTP/1.1\r\nX-Fill: ".utf8)
        let segment = bytes + [UInt8](repeating: UInt8(ascii: "a"), count: max(0, content - bytes.count))
        guard send(number, segment, content, Int32(MSG_NOSIGNAL)) == content else { return nil }
        let end = Clock.monotonic + Self.patience
        repeat {
            var none: [pollfd] = []
            let next = Clock.monotonic + Self.tick
            if ReadinessWait.wait(&none, until: next) == .interrupted { throw .interrupted }
            // Reset by the server: it has arrived.
            guard let info = Self.info(number), Int(info.tcpi_state) == TCP_ESTABLISHED else {
                return (content, header, true)
            }
            if info.tcpi_unacked == 0 { return (content, header, true) }
        } while Clock.monotonic < end
        return (content, header, false)
    }

    static func info(_ number: Int32) -> tcp_info? {
        var info = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        return getsockopt(number, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 ? info : nil
    }
}
