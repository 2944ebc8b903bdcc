// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc

/// Tells when a folder is removed (inotify(7)).
package final class FolderRemoval: Sendable {
    private let descriptor: OwnedDescriptor
    private let reactor: Reactor
    private let removals = EventLog<Bool>()

    /// Watches a folder that is there.
    package init(of folder: String) async throws {
        descriptor = try await FolderWatch.instance()
        let number = descriptor.number
        guard inotify_add_watch(number, folder, UInt32(IN_DELETE_SELF | IN_ONLYDIR)) >= 0 else {
            throw ReactorError("inotify_add_watch", errno: errno)
        }
        reactor = try Reactor(name: "folder-removal")
        try await reactor.result { [reactor, removals] in
            try reactor.watch(number, for: .readable) { _ in
                reactor.unwatch(number)
                removals.append(true)
            }
        }
    }

    deinit { reactor.stop() }

    /// Returns when the folder is gone.
    package func wait() async { await removals.wait(forCount: 1) }
}
