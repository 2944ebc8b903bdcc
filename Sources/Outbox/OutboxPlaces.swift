// SPDX-License-Identifier: Apache-2.0

import Glibc
import OutboxCore
import Storage

/// Where an outbox keeps what.
struct OutboxPlaces: Sendable {
    let folder: String
    /// Entries, lanes, replies.
    var database: String { folder + "/outbox.sqlite" }
    /// A new database that is being made out of a damaged one; complete where the other is missing.
    var successor: String { folder + "/outbox.sqlite.new" }
    /// Held, in whole, by the process that delivers (flock(2)).
    var deliveryLock: String { folder + "/outbox.lock" }
    /// Held, with others, while something is written; alone, while a damaged database is replaced.
    var gate: String { folder + "/outbox.gate" }
    /// Space for removals.
    var reserve: DiskReserve { DiskReserve(path: folder + "/outbox.reserve") }
    /// The contents that are too large for the database.
    var bodies: String { folder + "/outbox.bodies" }
    func body(_ name: String) -> String { bodies + "/" + name }
    /// What was damaged.
    var damaged: DamagedCopies { DamagedCopies(of: folder + "/outbox") }

    /// Whether there is no database, nor one that was to take its place.
    var isMissing: Bool {
        [database, successor].allSatisfy { path in
            var status = stat()
            return lstat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
        }
    }

    /// Makes the folder, with those above it, and that of the contents: for their owner alone.
    func make() throws(OutboxError) {
        try make(folder)
        try make(bodies)
        // One that was there may have been open to others.
        chmod(bodies, 0o700)
    }

    private func make(_ path: String) throws(OutboxError) {
        if PrivateFile.makeFolder(path) || errno == EEXIST { return }
        if errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try make(String(path[..<slash]))
            if PrivateFile.makeFolder(path) || errno == EEXIST { return }
        }
        throw OutboxError(DatabaseFile.failure("cannot make the folder", path))
    }
}

extension OutboxError {
    init(_ error: StorageError) {
        let code: Code =
            switch error.kind {
            case .diskFull: .diskFull
            case .missingLibrary: .missingLibrary
            default: .storage
            }
        self.init(
            code, "\(error.path): \(error.message)\(error.code == 0 ? "" : " (SQLite \(error.code))")",
            advice: error.advice)
    }
}
