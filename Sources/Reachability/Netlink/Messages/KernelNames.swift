// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Names of the kernel's errors, for explanations.
package enum KernelNames {
    /// An errno(3) with its symbol: `Network is unreachable (ENETUNREACH)`.
    package static func error(_ number: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        let known = strerror_r(number, &buffer, buffer.count) == 0
        let words = known ? text(of: buffer) : "error \(number)"
        return errorSymbol(number).map { "\(words) (\($0))" } ?? words
    }

    /// The symbol of an errno(3) of netlink and route lookups; nil for others.
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

    private static func text(of buffer: [CChar]) -> String {
        String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
