// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachabilityCore

extension URL {
    /// Whether its host is this machine by its name alone: `localhost` and below (RFC 6761 §6.3), 127.0.0.0/8
    /// or ::1.
    var isOnThisMachine: Bool { Self.isOnThisMachine(originText) }

    /// The same of scheme and authority.
    static func isOnThisMachine(_ origin: String) -> Bool {
        var bytes = origin.utf8[...]
        guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")) else { return false }
        bytes = bytes[slash...].dropFirst(2)
        if let at = bytes.lastIndex(of: UInt8(ascii: "@")) { bytes = bytes[bytes.index(after: at)...] }
        guard let first = bytes.first else { return false }
        switch first {
        case UInt8(ascii: "["):
            let literal = bytes.dropFirst().prefix { $0 != UInt8(ascii: "]") }
            return IPAddress(String(Substring(literal)))?.isLoopback == true
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            return IPAddress(String(Substring(bytes.prefix { $0 != UInt8(ascii: ":") })))?.isLoopback == true
        default:
            let host = Substring(bytes.prefix { $0 != UInt8(ascii: ":") })
            return host == "localhost" || host.hasSuffix(".localhost")
        }
    }
}
