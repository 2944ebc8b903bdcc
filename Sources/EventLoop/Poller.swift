// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// An epoll(7) instance with space for one batch of its events.
struct Poller: ~Copyable {
    /// The most events of one system call; the next call returns the rest.
    static let batch = 256

    private let epoll: OwnedDescriptor
    private let events: UnsafeMutablePointer<epoll_event>
    /// False once the kernel (before 5.11) or a seccomp filter refuses epoll_pwait2(2).
    private var isPrecise = true
    /// The number of epoll_ctl(2) calls so far.
    private(set) var controls = 0

    init() throws(ReactorError) {
        epoll = try OwnedDescriptor("epoll_create1", epoll_create1(Int32(EPOLL_CLOEXEC)))
        events = .allocate(capacity: Self.batch)
    }

    deinit { events.deallocate() }

    /// Calls epoll_ctl(2) for one descriptor; returns errno(3), or 0.
    mutating func control(_ operation: Int32, _ descriptor: Int32, mask: UInt32, tag: UInt64) -> Int32 {
        controls += 1
        return clinux_epoll_ctl(epoll.number, operation, descriptor, mask, tag) == 0 ? 0 : errno
    }

    /// Waits for events, at most `limit` nanoseconds (negative: for ever); returns their number.
    ///
    /// Never returns early without an event, so that a deadline costs one turn, except after a signal (0).
    mutating func wait(limit: Int64) -> Int {
        if limit > 0, isPrecise {
            let count = clinux_epoll_wait_precise(epoll.number, events, Int32(Self.batch), limit)
            guard count < 0, errno == ENOSYS || errno == EPERM else { return max(0, Int(count)) }
            isPrecise = false
        }
        // Rounded up: a wait that ends too early would spin until the deadline.
        let milliseconds = limit < 0 ? -1 : min(Int64(Int32.max), (limit + 999_999) / 1_000_000)
        return max(0, Int(epoll_wait(epoll.number, events, Int32(Self.batch), Int32(milliseconds))))
    }

    /// The tag and the mask of an event of the last wait.
    func event(_ index: Int) -> (tag: UInt64, mask: UInt32) {
        let event = clinux_event_at(events, Int32(index))
        return (clinux_event_data(event), clinux_event_mask(event))
    }
}
