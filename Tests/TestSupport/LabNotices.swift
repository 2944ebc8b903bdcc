// SPDX-License-Identifier: Apache-2.0

import CLinux
import CTestSupport
import EventLoop
import Glibc

/// Counts the kernel's notices of links, addresses and routes in a namespace, each of which is a reason to
/// evaluate again.
final class LabNotices: Sendable {
    let log = EventLog<Void>()
    private let reactor: Reactor
    private let socket: Int32

    /// Subscribes; every later change leads to a notice.
    init(in namespace: NetworkNamespace) async throws {
        reactor = namespace.reactor
        socket = try await namespace.perform { [log, reactor] in
            let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            let socket = try OwnedDescriptor("netlink", Glibc.socket(AF_NETLINK, type, 0))
            // RTMGRP_LINK, _IPV4_IFADDR, _IPV4_ROUTE, _IPV6_IFADDR, _IPV6_ROUTE (linux/rtnetlink.h).
            guard clinux_netlink_bind(socket.number, 0x1 | 0x10 | 0x40 | 0x100 | 0x400) == 0 else {
                throw LabError("subscribing to rtnetlink", errno: errno)
            }
            let number = socket.number
            try reactor.watch(number, for: .readable) { _ in
                var buffer = [UInt8](repeating: 0, count: 65536)
                // An overrun (ENOBUFS) is a notice as well.
                while recv(number, &buffer, buffer.count, 0) > 0 || errno == ENOBUFS {}
                log.append(())
            }
            return socket.release()
        }
    }

    deinit {
        reactor.perform { [reactor, socket] in
            reactor.unwatch(socket)
            close(socket)
        }
    }
}
