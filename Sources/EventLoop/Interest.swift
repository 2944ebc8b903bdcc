// SPDX-License-Identifier: Apache-2.0

import CLinux

/// The events of a descriptor that a watcher waits for.
///
/// Errors and hang-ups are reported in any case (epoll_ctl(2)); an empty interest leaves the epoll instance.
package struct Interest: OptionSet, Sendable, Equatable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Parks the watch; spelt out because an empty literal runs unspecialized code, for every request.
    package static var nothing: Interest { Interest(rawValue: 0) }
    /// Bytes or a connection can be read.
    package static let readable = Interest(rawValue: 1)
    /// Bytes can be written.
    package static let writable = Interest(rawValue: 2)
    /// Urgent bytes of a socket, or a trigger of the kernel's pressure files (poll(2), POLLPRI).
    package static let priority = Interest(rawValue: 4)
    /// Errors and hang-ups alone.
    package static let hangUp = Interest(rawValue: 8)

    /// The bits of epoll_ctl(2).
    var mask: UInt32 {
        (contains(.readable) ? UInt32(CLINUX_EPOLLIN) : 0)
            | (contains(.writable) ? UInt32(CLINUX_EPOLLOUT) : 0)
            | (contains(.priority) ? UInt32(CLINUX_EPOLLPRI) : 0)
    }
}

/// The events of a watched descriptor.
package struct Readiness: OptionSet, Sendable, Equatable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Bytes, a connection, or the end of the stream can be read.
    package static let readable = Readiness(rawValue: 1)
    /// Bytes can be written.
    package static let writable = Readiness(rawValue: 2)
    /// An error is pending (`SO_ERROR`, socket(7)); on netlink sockets also a lost event.
    package static let error = Readiness(rawValue: 4)
    /// The peer closed both directions, or the device is gone.
    package static let hangUp = Readiness(rawValue: 8)
    /// The kernel refused to watch this descriptor (not pollable, not open, no memory); the watch has ended.
    package static let refused = Readiness(rawValue: 16)
    /// Urgent bytes, or a pressure trigger (POLLPRI).
    package static let priority = Readiness(rawValue: 32)

    /// The part of an epoll event that concerns `interest`; errors and hang-ups always concern it.
    init(mask: UInt32, interest: Interest) {
        var all: Readiness = []
        if mask & UInt32(CLINUX_EPOLLIN) != 0, interest.contains(.readable) { all.insert(.readable) }
        if mask & UInt32(CLINUX_EPOLLOUT) != 0, interest.contains(.writable) { all.insert(.writable) }
        if mask & UInt32(CLINUX_EPOLLPRI) != 0, interest.contains(.priority) { all.insert(.priority) }
        if mask & UInt32(CLINUX_EPOLLERR) != 0 { all.insert(.error) }
        if mask & UInt32(CLINUX_EPOLLHUP) != 0 { all.insert(.hangUp) }
        self = all
    }
}
