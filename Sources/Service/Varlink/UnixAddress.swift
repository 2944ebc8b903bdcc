// SPDX-License-Identifier: Apache-2.0

import Glibc
import ServiceCore

/// The address of a Unix socket; a name that begins with "@" is an abstract one, without a file (unix(7)).
struct UnixAddress {
    private var address = sockaddr_un()
    private let length: socklen_t

    init(_ name: String) throws(ServiceError) {
        let isAbstract = name.hasPrefix("@")
        let bytes = Array(name.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        // A path needs room for its NUL; an abstract name is as long as the address says.
        guard !bytes.isEmpty, bytes.count + (isAbstract ? 0 : 1) <= room else {
            throw ServiceError(
                .usage,
                "\(name): the path of a socket has 1 to \(room - 1) bytes, and this one \(bytes.count)")
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: bytes)
            if isAbstract { path[0] = 0 }
        }
        let header = MemoryLayout<sockaddr_un>.size - room
        length = socklen_t(header + bytes.count + (isAbstract ? 0 : 1))
    }

    func with(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
