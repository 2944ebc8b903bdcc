// SPDX-License-Identifier: Apache-2.0

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

    /// Opens a file, or makes it; -1 with `errno` where neither works.
    package static func openOrMake(_ path: String) -> Int32 {
        while true {
            let found = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
            guard found < 0, errno == ENOENT else { return found }
            let made = make(path)
            guard made < 0, errno == EEXIST else { return made }
        }
    }

    /// Makes a folder; false with `errno` where it cannot, and where it is there.
    package static func makeFolder(_ path: String) -> Bool {
        guard mkdir(path, 0o700) == 0 else { return false }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        giveToOwner(descriptor, of: path)
        return true
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
