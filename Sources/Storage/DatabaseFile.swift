// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// The file of a database in the file system, without SQLite.
///
/// POSIX locks, which SQLite uses, go with the first descriptor of a file that a process closes (sqlite.org/howtocorrupt.html §2.2). So
/// nothing here opens a file that is there.
package enum DatabaseFile {
    /// What SQLite keeps beside the file: its log of changes and the index of it.
    package static let companions = ["-wal", "-shm"]

    /// What SQLite keeps beside the file where it cannot keep a log of changes.
    private static let journal = "-journal"

    /// Looks whether the file, and those that SQLite opens beside it, are ordinary ones where they are there: a link leads elsewhere, and
    /// open(2) waits for the other end of a pipe.
    static func check(_ path: String) throws(StorageError) {
        for name in [path] + (companions + [journal]).map({ path + $0 }) {
            var status = stat()
            guard lstat(name, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { continue }
            throw StorageError(
                .cannotOpen, "it is no ordinary file", path: name,
                advice: "remove it, or choose another place")
        }
    }

    /// How many bytes it has; nil where there is none, and of what is no ordinary file.
    package static func size(_ path: String) -> Int64? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    /// Makes the file where it is missing, for its owner alone, so that it is there after a loss of power too.
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

    /// What SQLite opens a file by that nobody can change at this time, since its file system is mounted read-only (statvfs(3)); nil for
    /// every other one.
    ///
    /// SQLite wants to make an index of the log of changes even for reading, which it cannot there. A log that was left behind has to be
    /// read, and then its index is there as well.
    static func frozen(_ path: String) -> String? {
        var system = statvfs()
        guard statvfs(path, &system) == 0, Int(system.f_flag) & Int(ST_RDONLY) != 0 else { return nil }
        var log = stat()
        guard stat(path + companions[0], &log) != 0 || log.st_size == 0 else { return nil }
        // What means something in a URI (RFC 3986 §2.2) is escaped.
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

    /// Has the names in the folder of a file on the disk (fsync(2)).
    package static func syncFolder(of path: String) throws(StorageError) {
        let folder = PrivateFile.folder(of: path)
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot open the folder", folder) }
        defer { close(descriptor) }
        // EINVAL: a file system that knows no fsync of folders.
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw failure("cannot sync the folder", folder)
        }
    }

    /// An error of the system, with `errno` as it is.
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
