// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// The credentials of a Unix socket's peer when it connected (SO_PEERCRED, unix(7)).
package struct PeerCredentials: Sendable, Equatable {
    package var process: Int32
    package var user: UInt32
    package var group: UInt32
    /// The supplementary groups (SO_PEERGROUPS, Linux 4.13).
    package var groups: [UInt32] = []

    package init(process: Int32, user: UInt32, group: UInt32, groups: [UInt32] = []) {
        self.process = process
        self.user = user
        self.group = group
        self.groups = groups
    }

    /// Nil if the kernel has none.
    init?(socket: Int32) {
        var credentials = clinux_credentials()
        guard clinux_peer_credentials(socket, &credentials) == 0 else { return nil }
        self.init(process: credentials.process, user: credentials.user, group: credentials.group)
        // A user is in 65,536 groups at most.
        var numbers = [gid_t](repeating: 0, count: 256)
        var length = socklen_t(numbers.count * MemoryLayout<gid_t>.size)
        guard getsockopt(socket, SOL_SOCKET, Int32(CLINUX_SO_PEERGROUPS), &numbers, &length) == 0
        else { return }
        groups = Array(numbers.prefix(Int(length) / MemoryLayout<gid_t>.size))
    }

    /// Whether this is root or the user of the service.
    package func isOwner(serviceUser: UInt32) -> Bool { user == 0 || user == serviceUser }

    /// Whether the peer may use the outbox: the owners, and members of the group.
    package func mayUseOutbox(serviceUser: UInt32, group allowed: UInt32?) -> Bool {
        if isOwner(serviceUser: serviceUser) { return true }
        guard let allowed else { return false }
        return group == allowed || groups.contains(allowed)
    }
}
