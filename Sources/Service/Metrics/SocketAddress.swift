// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import ReachabilityCore
import ServiceCore

/// Addresses of sockets in the kernel's form (ip(7), ipv6(7)).
enum SocketAddress {
    static func bind(_ socket: Int32, _ endpoint: Endpoint) -> Int32 {
        let bytes = endpoint.address.bytes
        if endpoint.address.family == .ipv4 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = endpoint.port.bigEndian
            withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
            return withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = endpoint.port.bigEndian
        withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
    }

    static func port(of socket: Int32) -> UInt16 {
        // The port lies at the same place in both families.
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        return UInt16(bigEndian: address.sin6_port)
    }
}
