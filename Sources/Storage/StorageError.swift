// SPDX-License-Identifier: Apache-2.0

import CSQLite

/// Why a database could not be used: the event, the file, and advice.
package struct StorageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure.
    package enum Kind: String, Sendable {
        /// SQLite is missing or too old.
        case missingLibrary
        case diskFull
        case readOnly
        /// Another process held the file for longer than the busy time-out.
        case locked
        /// The file is damaged.
        case corrupt
        /// The file is no database, or its first page is damaged.
        case notADatabase
        case cannotOpen
        /// Reading or writing failed (EIO and its like).
        case inputOutput
        case outOfMemory
        /// No descriptor was left.
        case outOfResources
        /// A constraint of the schema forbids the change.
        case constraint
        /// A newer version of the program has written the file, or another program.
        case unknownSchema
        case other

        /// Whether the content cannot be trusted any more.
        package var isDamage: Bool { self == .corrupt || self == .notADatabase }

        /// Whether a full disk may be the cause: SQLite reports an I/O error if the log's index cannot grow.
        package var mayWantRoom: Bool { self == .diskFull || self == .inputOutput }
    }

    package let kind: Kind
    /// SQLite's extended result code (sqlite.org/rescode.html); 0 if the failure was not SQLite's.
    package let code: Int32
    /// What happened, in SQLite's words or the program's.
    package let message: String
    package let path: String
    /// Advice; may be empty.
    package let advice: String

    package init(_ kind: Kind, code: Int32 = 0, _ message: String, path: String, advice: String? = nil) {
        self.kind = kind
        self.code = code
        self.message = message
        self.path = path
        self.advice = advice ?? Self.advice(kind)
    }

    init(code: Int32, _ message: String, path: String) {
        self.init(Kind(code: code), code: code, message, path: path)
    }

    package var description: String {
        "\(path): \(message)\(code == 0 ? "" : " (SQLite \(code))")\(advice.isEmpty ? "" : ": \(advice)")"
    }

    private static func advice(_ kind: Kind) -> String {
        switch kind {
        case .missingLibrary: "install SQLite 3.40 or newer, on Debian: apt install libsqlite3-0"
        case .diskFull: "free some space; what was stored before is untouched"
        case .readOnly:
            "check the permissions of the file and its folder, and whether the file system is mounted read-only"
        case .locked: "another program holds the file: try again, or see who has it open (fuser)"
        case .corrupt, .notADatabase: "check the disk; move the file away, or restore it from a copy"
        case .cannotOpen: "check that the folder exists and that this user may write there"
        case .inputOutput: "check the disk and the kernel's log (dmesg)"
        case .outOfMemory: "free some memory"
        case .outOfResources: "raise the limit of open files (ulimit -n, LimitNOFILE=) or free memory"
        case .unknownSchema: "use the newer version of the program, or another folder"
        case .constraint, .other: ""
        }
    }
}

extension StorageError.Kind {
    init(code: Int32) {
        // The log's index could not grow (SQLITE_IOERR_SHMSIZE): the cause is a full disk.
        if Int(code) == CSQLITE_IOERR_SHMSIZE {
            self = .diskFull
            return
        }
        switch Int(code & 0xFF) {
        case CSQLITE_FULL: self = .diskFull
        case CSQLITE_READONLY, CSQLITE_PERM, CSQLITE_AUTH: self = .readOnly
        case CSQLITE_BUSY, CSQLITE_LOCKED: self = .locked
        case CSQLITE_CORRUPT: self = .corrupt
        case CSQLITE_NOTADB: self = .notADatabase
        case CSQLITE_CANTOPEN: self = .cannotOpen
        case CSQLITE_IOERR: self = .inputOutput
        case CSQLITE_NOMEM: self = .outOfMemory
        case CSQLITE_CONSTRAINT: self = .constraint
        default: self = .other
        }
    }
}
