// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc

/// Tells of changes in a folder, for tests that wait for its files (inotify(7)): names that come and go, and
/// what is written.
package final class FolderWatch: Sendable {
    private let folder: String
    private let descriptor: OwnedDescriptor
    private let reactor: Reactor
    private let changes = EventLog<Void>()

    /// Watches a folder that is there, without the folders in it.
    package init(_ folder: String) async throws {
        self.folder = folder
        descriptor = try await Self.instance()
        let number = descriptor.number
        let events = IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
        guard inotify_add_watch(number, folder, UInt32(events) | UInt32(IN_ONLYDIR)) >= 0 else {
            throw LabError("watching \(folder)", errno: errno)
        }
        reactor = try Reactor(name: "folder-watch")
        try await reactor.result { [reactor, changes] in
            try reactor.watch(number, for: .readable) { _ in
                var buffer = [UInt8](repeating: 0, count: 4_096)
                while read(number, &buffer, buffer.count) > 0 {}
                changes.append(())
            }
        }
    }

    deinit { reactor.stop() }

    /// An inotify instance.
    ///
    /// A user has 128 of them, and the outboxes of tests that run side by side may hold all of them: waits
    /// until a test that ends gives one back.
    static func instance() async throws -> OwnedDescriptor {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let number = inotify_init1(Int32(O_CLOEXEC) | Int32(O_NONBLOCK))
            if number < 0, errno == EMFILE, .now < end {
                // The kernel announces no free instance.
                try await Task.sleep(for: .milliseconds(20))
            } else {
                return try OwnedDescriptor("inotify_init1", number)
            }
        }
    }

    /// Waits until `find` returns something: evaluated at once, and again after each change.
    ///
    /// - Throws: `LabError` where nothing is found in a minute.
    package func wait<Value: Sendable>(for find: @Sendable () async throws -> Value?) async throws -> Value {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let seen = changes.elements.count
            if let value = try await find() { return value }
            let left = end - .now
            guard left > .zero, await changes.wait(forCount: seen + 1, within: left).count > seen else {
                throw LabError("not found within a minute in \(folder)")
            }
        }
    }
}
