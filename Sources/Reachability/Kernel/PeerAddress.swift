// SPDX-License-Identifier: Apache-2.0

import Glibc
package import ReachabilityCore

/// One end of a connection.
package struct PeerAddress: Hashable, Sendable {
    package var address: IPAddress
    package var port: UInt16

    package init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// Makes it the near end of a socket (bind(2)); a refusal leaves the socket as it was.
    @discardableResult
    package func bind(_ descriptor: Int32) -> Int32 {
        withSocketAddress { Glibc.bind(descriptor, $0, $1) }
    }

    /// Connects a socket to it (connect(2)).
    package func connect(_ descriptor: Int32) -> Int32 {
        withSocketAddress { Glibc.connect(descriptor, $0, $1) }
    }

    private func withSocketAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        switch address.family {
        case .ipv4:
            var end = sockaddr_in()
            end.sin_family = sa_family_t(AF_INET)
            end.sin_port = port.bigEndian
            end.sin_addr.s_addr = UInt32(truncatingIfNeeded: address.low).bigEndian
            return Self.pass(&end, to: body)
        case .ipv6:
            var end = sockaddr_in6()
            end.sin6_family = sa_family_t(AF_INET6)
            end.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &end.sin6_addr) { $0.copyBytes(from: address.bytes) }
            return Self.pass(&end, to: body)
        }
    }

    private static func pass<Address>(
        _ end: inout Address, to body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafePointer(to: &end) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    /// The near end of a connection; nil before the kernel has chosen an address.
    package static func near(_ descriptor: Int32) -> PeerAddress? {
        let end = PeerAddress(descriptor, getsockname)
        return end?.address.isUnspecified == true ? nil : end
    }

    /// The far end of a connection; nil while there is none yet.
    package static func far(_ descriptor: Int32) -> PeerAddress? { PeerAddress(descriptor, getpeername) }

    private init?(
        _ descriptor: Int32,
        _ ask: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(descriptor, $0, &length) }
        }
        guard result == 0 else { return nil }
        let end = withUnsafeBytes(of: storage) { bytes in
            PeerAddress(
                UnsafeRawBufferPointer(start: bytes.baseAddress, count: min(Int(length), bytes.count)))
        }
        guard let end else { return nil }
        self = end
    }

    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 8 else { return nil }
        port = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        switch Int32(bytes.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET:
            guard let address = IPAddress(raw: bytes.bytes.extracting(4..<8)) else { return nil }
            self.address = address
        case AF_INET6 where bytes.count >= 24:
            guard let address = IPAddress(raw: bytes.bytes.extracting(8..<24)) else { return nil }
            self.address = address
        default: return nil
        }
    }
}

/// Sockets that send and receive through one interface alone.
package enum InterfaceBinding {
    /// Binds a socket (SO_BINDTODEVICE, socket(7)); false where the kernel refuses.
    ///
    /// Allowed without privileges since Linux 5.7, for a socket that is not bound yet.
    package static func bind(_ descriptor: Int32, to name: String) -> Bool {
        name.withCString {
            setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, $0, socklen_t(name.utf8.count + 1))
        } == 0
    }
}
