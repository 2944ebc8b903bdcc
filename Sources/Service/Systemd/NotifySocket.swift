// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import ServiceCore

/// Reports the service's state to the service manager (sd_notify(3)): datagrams to a socket named by the environment.
package struct NotifySocket: Sendable {
    private let name: String?

    /// - Parameter name: the value of `NOTIFY_SOCKET`; nil without a service manager.
    package init(name: String?) { self.name = name }

    package var isThere: Bool { name != nil }

    /// Sends lines of `KEY=value`; errors are ignored.
    package func send(_ lines: String...) {
        guard let name, let address = try? UnixAddress(name) else { return }
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, type, 0)
        guard number >= 0 else { return }
        defer { close(number) }
        let bytes = Array(lines.joined(separator: "\n").utf8)
        _ = address.with {
            Int32(truncatingIfNeeded: sendto(number, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1))
        }
    }
}
