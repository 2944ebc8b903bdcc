// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Finds the interfaces that carried an exchange by this machine's address in it.
enum LocalInterfaces {
    /// The interfaces that have an address; several where two networks gave out the same one, none where it
    /// is gone or the machine's own.
    ///
    /// - Parameter address: The address as inet_ntop(3) writes it.
    static func holding(_ address: String) -> [String] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var names: [String] = []
        var next = list
        while let item = next {
            next = item.pointee.ifa_next
            guard item.pointee.ifa_flags & UInt32(IFF_LOOPBACK) == 0,
                let found = item.pointee.ifa_addr, text(of: found) == address
            else { continue }
            names.append(String(cString: item.pointee.ifa_name))
        }
        return names
    }

    /// An address as text, without the zone of a link's own (RFC 4007 §11); nil where it is none of IP.
    private static func text(of address: UnsafePointer<sockaddr>) -> String? {
        let size: Int
        switch Int32(address.pointee.sa_family) {
        case AF_INET: size = MemoryLayout<sockaddr_in>.size
        case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = getnameinfo(
            address, socklen_t(size), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        guard code == 0 else { return nil }
        let bytes = text.prefix { $0 != 0 && $0 != CChar(UInt8(ascii: "%")) }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
