// SPDX-License-Identifier: Apache-2.0

import Glibc
import Storage

/// Where an outbox keeps what.
struct OutboxPaths: Sendable {
    let folder: String
    /// Whose rights are taken for all that is done in the folder; nil where this process' own are the right
    /// ones.
    let rights: FolderRights?

    init(folder: String) {
        self.folder = folder
        rights = FolderRights.needed(in: folder)
    }

    /// Entries, lanes, replies.
    var database: String { folder + "/outbox.sqlite" }
    /// A new database that is being made out of a damaged one; worthless until it is complete.
    var draft: String { folder + "/outbox.sqlite.new" }
    /// The new database, complete and on the disk: while it is there, it is to take the place of the damaged
    /// one.
    var successor: String { folder + "/outbox.sqlite.next" }
    /// Held, in whole, by the process that delivers (flock(2)).
    var deliveryLock: String { folder + "/outbox.lock" }
    /// Held, with others, while something is written; alone, while a damaged database is replaced.
    var gate: String { folder + "/outbox.gate" }
    /// Space for removals.
    var reserve: DiskReserve { DiskReserve(path: folder + "/outbox.reserve") }
    /// The contents that are too large for the database.
    var bodies: String { folder + "/outbox.bodies" }
    /// A content; a name that no outbox has given leads to no file, wherever it points.
    func body(_ name: String) -> String { bodies + "/" + (BodyFolder.isName(name) ? name : "unnamed") }
    /// What was damaged.
    var damaged: DamagedCopies { DamagedCopies(of: folder + "/outbox") }

    /// Whether there is no database, nor one that was to take its place, nor anything that was in one.
    var isMissing: Bool {
        [database, successor].allSatisfy { path in
            var status = stat()
            return lstat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
        } && traces == nil
    }

    /// Whether a damaged database was about to be replaced by one that is complete.
    var isExchangeBegun: Bool { DatabaseFile.size(successor) != nil }

    /// What tells that requests were in a database that is empty or missing; nil where it is sound as far as
    /// that goes, or new.
    ///
    /// A new one is empty for a moment, while another process makes it, but has neither log nor contents
    /// before it has tables, and the reserve is made when the first request is taken.
    var traces: String? {
        let size = DatabaseFile.size(database)
        guard size ?? 0 == 0 else { return nil }
        let state = size == nil ? "it is missing" : "it is empty"
        let found: String? =
            if DatabaseFile.size(database + DatabaseFile.companions[0]) ?? 0 > 0 {
                "\(state), and its log of changes is there"
            } else if let count = BodyFolder(paths: self).count, count > 0 {
                "\(state), and \(count) contents of requests are there"
            } else if size != nil, DatabaseFile.size(reserve.path) != nil {
                "\(state), and requests were taken before"
            } else {
                nil
            }
        // It may have been made meanwhile.
        return DatabaseFile.size(database) == size ? found : nil
    }

    /// Makes the folder, with those above it, and that of the contents: for their owner alone.
    func make() throws(OutboxError) {
        try make(folder)
        try checkOwner()
        try make(bodies)
        guard let contents = FolderHandle(bodies) else {
            if errno == ELOOP || errno == ENOTDIR {
                throw OutboxError(
                    .storage, "\(bodies) is no folder, as the outbox needs one",
                    advice: "remove it, or choose another place")
            }
            throw OutboxError(DatabaseFile.failure("cannot open the folder", bodies))
        }
        // One that was there may have been open to others.
        _ = fchmod(contents.number, 0o700)
    }

    /// What lies in a folder of another user is that user's word: which file a name leads to, and what is
    /// sent.
    private func checkOwner() throws(OutboxError) {
        var status = stat()
        guard stat(folder, &status) == 0 else {
            throw OutboxError(DatabaseFile.failure("cannot look at the folder", folder))
        }
        guard status.st_uid == 0 || status.st_uid == rights?.user ?? geteuid() else {
            throw OutboxError(
                .storage, "\(folder) belongs to user \(status.st_uid)",
                advice: "do it as user \(status.st_uid), or as root")
        }
        guard status.st_mode & 0o002 == 0 else {
            throw OutboxError(
                .storage, "\(folder) may be written by everybody", advice: "chmod o-w \(folder)")
        }
    }

    /// Why what waits here is not sent by this process; nil where it may be.
    func checkDelivery() throws(OutboxError) {
        guard let rights else { return }
        throw OutboxError(
            .storage,
            "\(folder) belongs to user \(rights.user), whose requests are not sent with the rights of root",
            advice: "do it as user \(rights.user)")
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

extension Optional where Wrapped == FolderRights {
    /// Runs `body` with these rights, or as it is where there are none.
    func perform<Value>(_ body: () -> Value) throws(StorageError) -> Value {
        guard let self else { return body() }
        return try self.perform(body)
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
