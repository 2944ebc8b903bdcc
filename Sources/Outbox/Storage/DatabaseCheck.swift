// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Storage

/// Checks a large database on a thread of its own, while it is in use.
///
/// A check reads the whole file: a million entries take a second, and minutes on a slow disk. Requests are
/// taken meanwhile; damage is handled when it is found, as it is when an access meets it.
enum DatabaseCheck {
    enum Part: Sendable {
        /// The structure of every table (`PRAGMA quick_check`).
        case tables
        /// ``OutboxTables/checkLanes()``.
        case lanes
    }

    /// Files up to this size, in bytes, are checked before they are used.
    static let largestAtOnce: Int64 = 32 << 20

    /// Starts a check; without a thread for it there is none.
    ///
    /// - Parameter found: called with the damaged file and the reason, on the check's thread.
    static func start(
        _ part: Part, _ paths: OutboxPaths, found: @escaping @Sendable (FileIdentity, String) -> Void
    ) {
        guard let reactor = try? Reactor(name: "reach-check") else { return }
        // The thread ends when the closure has released its last reference.
        reactor.perform {
            withExtendedLifetime(reactor) {
                if let (damaged, reason) = run(part, paths) { found(damaged, reason) }
            }
        }
    }

    /// The damage of a file; nil if none was found, or the file could not be checked.
    static func run(_ part: Part, _ paths: OutboxPaths) -> (FileIdentity, String)? {
        guard let gate = try? LockFile(paths.gate) else { return nil }
        gate.lockShared()
        defer { gate.unlock() }
        let identity = FileIdentity(paths.database)
        do throws(StorageError) {
            // The thread ends after this, so the rights are never given back.
            try paths.rights?.assume()
            let database = try Database(reading: paths.database)
            switch part {
            case .lanes: try OutboxTables(database).checkLanes()
            case .tables:
                let tables = try database.all("SELECT name FROM sqlite_schema WHERE type = 'table'") {
                    $0.text(0)
                }
                // One after the other: while a table is read, the log cannot start again.
                for table in tables {
                    if let fault = try database.faults(of: table).first { return (identity, fault) }
                }
            }
        } catch {
            // One that cannot be read now is checked when it is opened next.
            if error.kind.isDamage { return (identity, error.message) }
        }
        return nil
    }
}
