// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The file of a database in the file system, without SQLite.
///
/// POSIX locks, which SQLite uses, go with the first descriptor of a file that a process closes (sqlite.org/howtocorrupt.html §2.2). So
/// nothing here opens a file that is there.
package enum DatabaseFile {
    /// What SQLite keeps beside the file: its log of changes and the index of it.
    package static let companions = ["-wal", "-shm"]

    /// Makes the file where it is missing, for its owner alone, so that it is there after a loss of power too.
    static func create(_ path: String) throws(StorageError) {
        var status = stat()
        if lstat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw StorageError(
                    .cannotOpen, "it is no ordinary file", path: path,
                    advice: "remove it, or choose another place")
            }
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
            default: .cannotOpen
            }
        return StorageError(kind, "\(what): \(String(cString: strerror(number)))", path: path)
    }
}
