// SPDX-License-Identifier: Apache-2.0

package import EventLoop
import Glibc
import Synchronization

/// Stands for timers that the kernel cancels when the wall clock is set; a test says when that is.
package final class SettableTimer: Sendable {
    private struct State {
        /// The other ends of the timers, which this object owns.
        var far: [Int32] = []
        var opened = 0
        var refuses = false
    }

    private let state = Mutex(State())

    package init() {}

    deinit { state.withLock { for descriptor in $0.far { close(descriptor) } } }

    /// How many were opened.
    package var opened: Int { state.withLock { $0.opened } }

    /// How many of those that were opened are still watched.
    package var watched: Int {
        state.withLock { state in
            state.far.count { descriptor in
                var byte: UInt8 = 0
                return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) < 0
            }
        }
    }

    /// Whether no more can be opened from now on.
    package func refuse(_ refuses: Bool) { state.withLock { $0.refuses = refuses } }

    package func open() throws(ReactorError) -> OwnedDescriptor {
        if state.withLock({ $0.refuses }) { throw ReactorError("timerfd_create", errno: EMFILE) }
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw ReactorError("socketpair", errno: errno) }
        let far = ends[1]
        state.withLock { state in
            state.far.append(far)
            state.opened += 1
        }
        return OwnedDescriptor(adopting: ends[0])
    }

    /// The clock was set.
    package func fire() {
        state.withLock { state in
            for descriptor in state.far {
                DescriptorPair.put(descriptor)
                close(descriptor)
            }
            state.far = []
        }
    }
}
