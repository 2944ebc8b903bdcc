// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Makes files and folders for their owner alone.
///
/// What root makes in a folder of another user belongs to that user, as SQLite's own logs of changes do: an administrator may look at, or
/// add to, what a service keeps, and the service goes on using it.
package enum PrivateFile {
    /// Makes a file; as open(2), -1 with `errno` where it cannot, and where it is there.
    package static func make(_ path: String) -> Int32 {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 { giveToOwner(descriptor, of: path) }
        return descriptor
    }

    /// Opens a file, or makes it; -1 with `errno` where neither works, and where something else than a file is there.
    package static func openOrMake(_ path: String) -> Int32 {
        while true {
            let found = openFile(path, O_RDWR)
            guard found < 0, errno == ENOENT else { return found }
            let made = make(path)
            guard made < 0, errno == EEXIST else { return made }
        }
    }

    /// Opens a file that is there, and no pipe, whose open(2) waits for its other end; -1 with `errno`.
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

    /// Makes a folder, whose name is on the disk then; false with `errno` where it cannot, and where it is there.
    package static func makeFolder(_ path: String) -> Bool {
        guard mkdir(path, 0o700) == 0 else { return false }
        if let folder = FolderHandle(path) { giveToOwner(folder.number, of: path) }
        return keepFolder(path)
    }

    /// Has the name of a folder that was just made on the disk; where that fails it is removed again, and false returned with `errno`.
    ///
    /// What is synced inside of it is lost with its name otherwise (fsync(2), "Notes").
    package static func keepFolder(_ path: String) -> Bool {
        let above = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // One that may be written and not be read cannot be synced.
        guard above >= 0 else { return errno == EACCES || discardFolder(path) }
        defer { close(above) }
        return fsync(above) == 0 || errno == EINVAL || discardFolder(path)
    }

    /// Always false, with `errno` as it is.
    private static func discardFolder(_ path: String) -> Bool {
        let number = errno
        rmdir(path)
        errno = number
        return false
    }

    /// Only of what was made a moment ago, by its descriptor: a name may lead elsewhere by now.
    private static func giveToOwner(_ descriptor: Int32, of path: String) {
        guard geteuid() == 0 else { return }
        var status = stat()
        guard stat(folder(of: path), &status) == 0, status.st_uid != 0 else { return }
        // Where a file system or a user namespace knows no such owner, it stays root's.
        _ = fchown(descriptor, status.st_uid, status.st_gid)
    }

    /// The folder that a path lies in.
    package static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }
}
