// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CLinux
import Glibc
import Reachability

/// Connects to addresses by TCP, all at once, and closes the connections again.
enum ConnectionProbe {
    /// Long enough for lost packets to be sent again twice (RFC 6298 §2: after 1 s, after 3 s).
    static let limit: Duration = .seconds(4)

    /// - Throws: the exit code of a signal.
    static func observe(_ addresses: [IPAddress], port: Int) throws(ExitCode) -> [ConnectionObservation] {
        let began = Clock.monotonic
        var tries = addresses.map { Try($0, port) }
        defer { for attempt in tries where attempt.socket >= 0 { close(attempt.socket) } }
        while tries.contains(where: { $0.outcome == nil }) {
            var polls = tries.map {
                pollfd(fd: $0.outcome == nil ? $0.socket : -1, events: Int16(POLLOUT), revents: 0)
            }
            let end = ReadinessWait.wait(&polls, until: began + limit)
            if end == .interrupted { throw .interrupted }
            if end == .timedOut { break }
            for index in tries.indices where polls[index].revents != 0 {
                tries[index].finish(after: Clock.monotonic - began)
            }
        }
        return tries.map { attempt in
            let outcome = attempt.outcome ?? (attempt.isDroppedHere ? .rejected(.ownFirewall) : .timedOut)
            return ConnectionObservation(
                address: attempt.address, port: port, outcome: outcome, took: attempt.took ?? limit)
        }
    }

    private struct Try {
        let address: IPAddress
        var socket: Int32
        var outcome: ConnectionObservation.Outcome?
        var took: Duration?
        /// The packets' source address.
        private var source: IPAddress?

        init(_ address: IPAddress, _ port: Int) {
            self.address = address
            let isIPv4 = address.family == .ipv4
            socket = Glibc.socket(
                isIPv4 ? AF_INET : AF_INET6,
                Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
            guard socket >= 0 else {
                fail(errno)
                return
            }
            // On failure the error remains, without its sender.
            _ = clinux_queue_icmp_errors(socket, isIPv4 ? AF_INET : AF_INET6)
            let result = PeerAddress(address: address, port: UInt16(clamping: port)).connect(socket)
            let failure = errno
            source = PeerAddress.near(socket)?.address
            if result == 0 { finish(after: .zero) } else if failure != EINPROGRESS { fail(failure) }
        }

        /// The ICMP message that ended the attempt, if any.
        private func rejection() -> ConnectionRejection? {
            var reported = clinux_icmp_error()
            guard clinux_next_icmp_error(socket, &reported) == 1 else { return nil }
            let count = Int32(reported.family) == AF_INET ? 4 : 16
            let bytes = withUnsafeBytes(of: &reported.sender) { Array($0.prefix(count)) }
            guard let sender = IPAddress(bytes: bytes) else { return nil }
            return ConnectionRejection(
                from: sender, type: reported.type, code: reported.code, server: address, source: source)
        }

        /// Whether the packets of an attempt without an answer do not leave this machine: TCP has repeated
        /// them and counts none as sent (tcp_retransmit_skb(), net/ipv4/tcp_output.c).
        var isDroppedHere: Bool {
            guard let info = SegmentProbe.info(socket) else { return false }
            return info.tcpi_total_retrans > 0 && info.tcpi_retrans == 0
        }

        mutating func finish(after duration: Duration) {
            took = duration
            var failure: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(socket, SOL_SOCKET, SO_ERROR, &failure, &length)
            if failure == 0 { outcome = .connected } else { fail(failure) }
        }

        private mutating func fail(_ number: Int32) {
            took = took ?? .zero
            // The kernel reports a silent neighbour by the same error, with this machine as its sender.
            if let rejection = rejection(), rejection != .init(sender: .thisMachine, kind: .noHost) {
                outcome = .rejected(rejection)
                return
            }
            outcome =
                switch number {
                case ECONNREFUSED: .refused
                case ETIMEDOUT: .timedOut
                default: .failed(String(cString: strerror(number)))
                }
        }
    }

    /// The neighbour that has to forward packets for an address on `path`, if the kernel asked for that
    /// neighbour by ARP and got no answer (proc_net(5), `arp`: flag ATF_COM is not set).
    static func silentNeighbour(
        on path: ReachabilityPath, to address: IPAddress
    ) -> ConnectionObservation.Neighbour? {
        let next = path.gateway ?? address
        guard next.family == .ipv4, let interface = path.interface else { return nil }
        let isSilent = SystemText.lines("/proc/thread-self/net/arp").contains {
            $0.count >= 6 && $0[0] == next.description && $0[2] == "0x0" && $0[5] == interface
        }
        return isSilent ? .init(address: next, interface: interface) : nil
    }

    /// The MTU of a link, in bytes; nil if unknown (netdevice(7), SIOCGIFMTU).
    static func mtu(_ interface: String?) -> Int? {
        guard let interface, interface.utf8.count < Int(IF_NAMESIZE) else { return nil }
        let number = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return nil }
        defer { close(number) }
        // A struct ifreq: 16 bytes for the name, then a union that begins with an int.
        var request = [UInt8](interface.utf8) + [UInt8](repeating: 0, count: 64 - interface.utf8.count)
        guard ioctl(number, 0x8921, &request) == 0 else { return nil }
        return request.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: 16, as: Int32.self)) }
    }
}
