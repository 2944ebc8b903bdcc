// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc

/// Reports writes to a database by any process of this machine: inotify(7) on its write-ahead log.
///
/// The event precedes the visible commit; the handler waits for it by acquiring the writer's lock.
final class DatabaseWatcher {
    private let descriptor: OwnedDescriptor
    private let reactor: Reactor

    /// - Parameter changed: called on the reactor's thread.
    init?(_ path: String, on reactor: Reactor, changed: @escaping () -> Void) {
        let number = inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK))
        guard number >= 0 else { return nil }
        descriptor = OwnedDescriptor(adopting: number)
        self.reactor = reactor
        guard inotify_add_watch(number, path, UInt32(IN_MODIFY | IN_MOVE_SELF | IN_DELETE_SELF)) >= 0 else {
            return nil
        }
        let watch = try? reactor.watch(number, for: .readable, retrying: true) { _ in
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
                while read(number, buffer.baseAddress, buffer.count) > 0 {}
            }
            changed()
        }
        guard watch != nil else { return nil }
    }

    func end() { reactor.unwatch(descriptor.number) }
}
