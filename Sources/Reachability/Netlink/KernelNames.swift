// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Glibc

/// The words that people know the kernel's numbers by, for explanations.
package enum KernelNames {
    /// A route type (RTN_*, rtnetlink(7)): `unicast` for 1.
    package static func routeType(_ type: UInt8) -> String { text { nl_rtntype2str(Int32(type), $0, $1) } }

    /// A link-layer type (ARPHRD_*, linux/if_arp.h): `ether` for 1.
    package static func hardwareType(_ type: UInt16) -> String {
        text { nl_llproto2str(Int32(type), $0, $1) }
    }

    /// Who made a route (RTPROT_*, rtnetlink(7)): `dhcp` for 16.
    package static func routeProtocol(_ number: UInt8) -> String {
        switch Int32(number) {
        // libnl's own table is older than these.
        case RTPROT_DHCP: "dhcp"
        case RTPROT_KEEPALIVED: "keepalived"
        case RTPROT_BABEL: "babel"
        case RTPROT_BGP: "bgp"
        case RTPROT_OSPF: "ospf"
        default: text { rtnl_route_proto2str(Int32(number), $0, $1) }
        }
    }

    /// How far a route or an address reaches (RT_SCOPE_*, rtnetlink(7)): `global` for 0.
    package static func scope(_ scope: UInt8) -> String { text { rtnl_scope2str(Int32(scope), $0, $1) } }

    /// A routing table: `main`, `local`, or its number.
    package static func table(_ table: UInt32) -> String {
        switch table {
        case UInt32(RT_TABLE_DEFAULT.rawValue): "default"
        case UInt32(RT_TABLE_MAIN.rawValue): "main"
        case UInt32(RT_TABLE_LOCAL.rawValue): "local"
        default: String(table)
        }
    }

    /// An errno(3) with its symbol: `Network is unreachable (ENETUNREACH)`.
    package static func error(_ number: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        let known = strerror_r(number, &buffer, buffer.count) == 0
        let words = known ? text(of: buffer) : "error \(number)"
        return errorSymbol(number).map { "\(words) (\($0))" } ?? words
    }

    /// The symbol of an errno(3) that netlink and route lookups return; nil for others.
    package static func errorSymbol(_ number: Int32) -> String? {
        switch number {
        case EPERM: "EPERM"
        case ENOENT: "ENOENT"
        case ESRCH: "ESRCH"
        case EINTR: "EINTR"
        case ENXIO: "ENXIO"
        case EBADF: "EBADF"
        case EAGAIN: "EAGAIN"
        case ENOMEM: "ENOMEM"
        case EACCES: "EACCES"
        case EBUSY: "EBUSY"
        case EEXIST: "EEXIST"
        case ENODEV: "ENODEV"
        case EINVAL: "EINVAL"
        case ENFILE: "ENFILE"
        case EMFILE: "EMFILE"
        case ERANGE: "ERANGE"
        case EPROTONOSUPPORT: "EPROTONOSUPPORT"
        case EOPNOTSUPP: "EOPNOTSUPP"
        case EAFNOSUPPORT: "EAFNOSUPPORT"
        case EADDRNOTAVAIL: "EADDRNOTAVAIL"
        case ENETDOWN: "ENETDOWN"
        case ENETUNREACH: "ENETUNREACH"
        case ENOBUFS: "ENOBUFS"
        case ETIMEDOUT: "ETIMEDOUT"
        case EHOSTUNREACH: "EHOSTUNREACH"
        default: nil
        }
    }

    private static func text(
        _ write: (UnsafeMutablePointer<CChar>, Int) -> UnsafeMutablePointer<CChar>?
    ) -> String {
        var buffer = [CChar](repeating: 0, count: 64)
        let size = buffer.count
        buffer.withUnsafeMutableBufferPointer { if let base = $0.baseAddress { _ = write(base, size) } }
        return text(of: buffer)
    }

    private static func text(of buffer: [CChar]) -> String {
        String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
