// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Makes files and folders for their owner alone.
///
/// A file that root makes in another user's folder belongs to that user, as SQLite's own logs do: an
/// administrator may inspect a service's files or add to them, and the service can still use them.
package enum PrivateFile {
    /// Makes a file, as open(2); -1 with `errno` on failure, or if it exists.
    package static func make(_ path: String) -> Int32 {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 { giveToOwner(descriptor, of: path) }
        return descriptor
    }

    /// Opens or makes a file; -1 with `errno` on failure, or if something else than a file is there.
    package static func openOrMake(_ path: String) -> Int32 {
        while true {
            let found = openFile(path, O_RDWR)
            guard found < 0, errno == ENOENT else { return found }
            let made = make(path)
            guard made < 0, errno == EEXIST else { return made }
        }
    }

    /// Opens an existing file but no pipe, whose open(2) waits for its other end; -1 with `errno`.
    package static func openFile(_ path: String, _ flags: Int32) -> Int32 {
        let descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return -1 }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            errno = EINVAL
            return -1
        }
        return descriptor
    }

    /// Makes a folder and syncs its name; false with `errno` on failure, or if it exists.
    package static func makeFolder(_ path: String) -> Bool {
        guard mkdir(path, 0o700) == 0 else { return false }
        if let folder = FolderHandle(path) { giveToOwner(folder.number, of: path) }
        return syncNewFolder(path)
    }

    /// Syncs a new folder's name (fsync(2), "Notes"); on failure removes it and returns false with `errno`.
    package static func syncNewFolder(_ path: String) -> Bool {
        let above = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A folder that may be written but not read cannot be synced.
        guard above >= 0 else { return errno == EACCES || discardFolder(path) }
        defer { close(above) }
        return fsync(above) == 0 || errno == EINVAL || discardFolder(path)
    }

    /// Removes the folder; returns false, with `errno` unchanged.
    private static func discardFolder(_ path: String) -> Bool {
        let number = errno
        rmdir(path)
        errno = number
        return false
    }

    /// Changes the owner of a file made a moment ago, by its descriptor: its name may lead elsewhere by now.
    private static func giveToOwner(_ descriptor: Int32, of path: String) {
        guard geteuid() == 0 else { return }
        var status = stat()
        guard stat(folder(of: path), &status) == 0, status.st_uid != 0 else { return }
        // On a file system or in a user namespace without that owner, it stays root's.
        _ = fchown(descriptor, status.st_uid, status.st_gid)
    }

    /// The parent folder of a path.
    package static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }
}
