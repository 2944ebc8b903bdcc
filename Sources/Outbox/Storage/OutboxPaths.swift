// SPDX-License-Identifier: Apache-2.0

import Glibc
import Storage

/// The paths of an outbox's files.
struct OutboxPaths: Sendable {
    let folder: String
    /// The rights used for the folder; nil if this process's own are right.
    let rights: FolderRights?

    init(folder: String) {
        self.folder = folder
        rights = FolderRights.needed(in: folder)
    }

    /// Entries, lanes, replies.
    var database: String { folder + "/outbox.sqlite" }
    /// A new database under construction; worthless until it is complete.
    var draft: String { folder + "/outbox.sqlite.new" }
    /// The complete new database; while it exists, it has to replace the damaged one.
    var successor: String { folder + "/outbox.sqlite.next" }
    /// Locked exclusively by the delivering process (flock(2)).
    var deliveryLock: String { folder + "/outbox.lock" }
    /// Locked shared during writes, and exclusively while a damaged database is replaced.
    var gate: String { folder + "/outbox.gate" }
    /// Disk space for removals.
    var reserve: DiskReserve { DiskReserve(path: folder + "/outbox.reserve") }
    /// The contents that are too large for the database.
    var bodies: String { folder + "/outbox.bodies" }
    /// The path of a content; a name that no outbox gives leads to a path without a file.
    func body(_ name: String) -> String { bodies + "/" + (BodyFolder.isName(name) ? name : "unnamed") }
    /// The damaged databases.
    var damaged: DamagedCopies { DamagedCopies(of: folder + "/outbox") }

    /// Whether there is no database, no successor, and no traces of one.
    var isMissing: Bool {
        [database, successor].allSatisfy { path in
            var status = stat()
            return lstat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
        } && traces == nil
    }

    /// Whether a complete database is ready to replace a damaged one.
    var isExchangeBegun: Bool { DatabaseFile.size(successor) != nil }

    /// Evidence that an empty or missing database had requests; nil if it is sound in this respect, or new.
    ///
    /// A new one has neither log nor contents before it has tables; the first request makes the reserve.
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
        // Another process may have made it meanwhile.
        return DatabaseFile.size(database) == size ? found : nil
    }

    /// Makes the folder, its parents, and the folder of the contents, for their owner alone.
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
        // An existing folder may have been open to others.
        _ = fchmod(contents.number, 0o700)
    }

    /// Refuses a folder of another user, who could decide what is sent by placing links and files in it.
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
                .storage, "\(folder) may be written by every user", advice: "chmod o-w \(folder)")
        }
    }

    /// Refuses to send another user's requests with the rights of root.
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
    /// Runs `body` with these rights; without any, unchanged.
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
