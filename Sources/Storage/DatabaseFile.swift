// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// A database's file in the file system, without SQLite.
///
/// SQLite's POSIX locks are lost with the first descriptor of the file that the process closes
/// (sqlite.org/howtocorrupt.html §2.2), so nothing here opens an existing file.
package enum DatabaseFile {
    /// The files beside a database: its write-ahead log and the log's index.
    package static let companions = ["-wal", "-shm"]

    /// The file beside a database that has no write-ahead log.
    private static let journal = "-journal"

    /// Checks that the file and its companions, if any, are regular: a link leads elsewhere, a pipe blocks.
    static func check(_ path: String) throws(StorageError) {
        for name in [path] + (companions + [journal]).map({ path + $0 }) {
            var status = stat()
            guard lstat(name, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { continue }
            throw StorageError(
                .cannotOpen, "it is no ordinary file", path: name,
                advice: "remove it, or choose another place")
        }
    }

    /// The size in bytes; nil if there is no regular file.
    package static func size(_ path: String) -> Int64? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    /// Makes the file if it is missing, for its owner alone, so that it survives a loss of power.
    static func create(_ path: String) throws(StorageError) {
        try check(path)
        var status = stat()
        if lstat(path, &status) == 0 {
            if status.st_mode & 0o077 != 0, status.st_uid == geteuid() { chmod(path, 0o600) }
            return
        }
        let descriptor = PrivateFile.make(path)
        guard descriptor >= 0 else {
            if errno == EEXIST { return }
            throw failure("cannot create it", path)
        }
        close(descriptor)
        try syncFolder(of: path)
    }

    /// SQLite's URI for a file on a read-only file system (statvfs(3)); nil for every other file.
    ///
    /// Even for reading SQLite makes an index of the log, which fails there, unless a log was left with its
    /// index.
    static func frozen(_ path: String) -> String? {
        var system = statvfs()
        guard statvfs(path, &system) == 0, Int(system.f_flag) & Int(ST_RDONLY) != 0 else { return nil }
        var log = stat()
        guard stat(path + companions[0], &log) != 0 || log.st_size == 0 else { return nil }
        // Escapes the reserved characters of a URI (RFC 3986 §2.2).
        var uri = Array("file:".utf8)
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "%"): uri += "%25".utf8
            case UInt8(ascii: "?"): uri += "%3f".utf8
            case UInt8(ascii: "#"): uri += "%23".utf8
            default: uri.append(byte)
            }
        }
        return String(decoding: uri, as: UTF8.self) + "?immutable=1"
    }

    /// Syncs the names in the folder of a file (fsync(2)).
    package static func syncFolder(of path: String) throws(StorageError) {
        let folder = PrivateFile.folder(of: path)
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot open the folder", folder) }
        defer { close(descriptor) }
        // EINVAL: the file system does not support fsync of folders.
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw failure("cannot sync the folder", folder)
        }
    }

    /// Syncs the write-ahead log (fdatasync(2)); for an open connection, after its first read.
    ///
    /// A process that was killed before its sync may have left commits in the log. The first connection after
    /// it reads them like all others, and what follows from them must not be on the disk before they are.
    static func syncLog(of path: String) throws(StorageError) {
        let log = path + companions[0]
        // Closing it loses no locks: SQLite's are on the database and on the log's index.
        let descriptor = PrivateFile.openFile(log, O_RDONLY)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            throw failure("cannot open it", log)
        }
        defer { close(descriptor) }
        guard fdatasync(descriptor) == 0 || errno == EINVAL else { throw failure("cannot sync it", log) }
    }

    /// A system error, from the current `errno`.
    package static func failure(_ what: String, _ path: String) -> StorageError {
        let number = errno
        let kind: StorageError.Kind =
            switch number {
            case ENOSPC, EDQUOT: .diskFull
            case EROFS: .readOnly
            case EIO: .inputOutput
            case ENOMEM: .outOfMemory
            case EMFILE, ENFILE: .outOfResources
            default: .cannotOpen
            }
        return StorageError(kind, "\(what): \(String(cString: strerror(number)))", path: path)
    }
}

/// Identifies a file independently of its name.
package struct FileIdentity: Equatable, Sendable {
    private var device: UInt64 = 0
    private var number: UInt64 = 0

    /// The file that has this name now; missing if there is none.
    package init(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    /// The open file.
    package init(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return }
        (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    /// Whether the file of this name exists and is the same.
    package func isSame(as path: String) -> Bool { !isMissing && self == FileIdentity(path) }

    /// Whether there was no file of the name.
    package var isMissing: Bool { number == 0 }
}

/// Refers to a file without opening it (`O_PATH`, open(2)): unlike other descriptors of a database, closing
/// it loses none of SQLite's locks.
package struct FileReference: ~Copyable {
    /// Negative if there was no file.
    private let descriptor: Int32

    package init(_ path: String) { descriptor = open(path, Int32(CLINUX_O_PATH) | O_NOFOLLOW | O_CLOEXEC) }
    deinit { close(descriptor) }

    /// Whether the file has no name any more; false if it was only renamed.
    package var isRemoved: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink == 0
    }
}
