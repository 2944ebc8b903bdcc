// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
import Reachability
import ReachabilityCore

/// The socket of a connection that a monitor records.
struct MonitoredSocket {
    let descriptor: Int32

    /// The kernel's own number of the socket, unique while the system runs (SO_COOKIE, socket(7)):
    /// descriptors are reused.
    var cookie: UInt64 {
        var cookie: UInt64 = 0
        var length = socklen_t(MemoryLayout<UInt64>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0 ? cookie : 0
    }

    /// Whether libcurl will be allowed to bind a socket to an interface.
    ///
    /// Where it is not, libcurl binds to an address of the interface by itself, which works once for each
    /// socket.
    static func mayBind(to name: String, as family: IPAddress.Family) -> Bool {
        let other = socket(
            family == .ipv4 ? AF_INET : AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard other >= 0 else { return false }
        defer { Glibc.close(other) }
        return InterfaceBinding.bind(other, to: name)
    }

    /// Whether the kernel binds no socket to an interface without privileges: before Linux 5.7.
    static func isBindingRefused(to name: String) -> Bool {
        errno = 0
        return !mayBind(to: name, as: .ipv4) && errno == EPERM
    }

    /// Has it send from an address; where that is refused, the kernel chooses.
    func bind(from source: IPAddress) {
        // The port is chosen by connect(2), so that other peers may have the same (Linux 4.2).
        var on: Int32 = 1
        setsockopt(
            descriptor, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, &on,
            socklen_t(MemoryLayout<Int32>.size))
        PeerAddress(address: source, port: 0).bind(descriptor)
    }

    /// Ends a dead connection without another packet.
    ///
    /// The rest of a request that was given up must not be delivered when the cable is back. And packets into
    /// a dead link make the kernel look for a neighbour there for three seconds (mcast_solicit in arp(7)): a
    /// connection that is made when the link has just come back would wait for the next solicitation, or fail
    /// with EHOSTUNREACH after the last one.
    func silence() {
        var atOnce = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
        // No route leads through there. A socket that is bound already may be bound again by privileged
        // processes only.
        _ = InterfaceBinding.bind(descriptor, to: "lo")
    }
}

extension PeerAddress {
    /// What libcurl is about to connect to; nil for what is neither IPv4 nor IPv6.
    init?(_ target: UnsafePointer<curl_sockaddr>) {
        // The structure ends with the beginning of an address that may be longer
        // (CURLOPT_OPENSOCKETFUNCTION(3)).
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        let bytes = UnsafeRawBufferPointer(
            start: UnsafeRawPointer(target) + offset, count: Int(target.pointee.addrlen))
        self.init(bytes)
    }
}
