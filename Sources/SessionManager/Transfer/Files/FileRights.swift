// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// The rights of a file for the one that takes its place: a program stays executable, a secret stays one.
///
/// No user may do more with the new file than with the old one. As for content written over the old (open(2)
/// with O_TRUNC), owner, group, mode and access control list stay; where the owner or the group cannot be
/// given away (chown(2)), the rights shrink.
package struct FileRights: Sendable {
    private let path: String
    private let owner: uid_t
    private let group: gid_t
    /// Without set-user-ID and its like: new content has to earn them.
    private let mode: mode_t
    private let keepsOwner: Bool

    /// The rights of a file; nil where there is none, or something else than a file.
    package init?(of path: String) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.path = path
        owner = status.st_uid
        group = status.st_gid
        mode = status.st_mode & 0o777
        keepsOwner = !Self.isStrangers(path, status)
    }

    /// The mode of a file that is being written, and may take that place.
    package static var whileWritten: UInt32 { 0o600 }

    /// Gives them to an open file of this process, before it is renamed over the old one.
    package func give(to descriptor: Int32) {
        var new = stat()
        guard fstat(descriptor, &new) == 0 else { return }
        var mode = mode
        let isOwnedAlike = new.st_uid == owner || keepsOwner && fchown(descriptor, owner, .max) == 0
        // Only this user could write it while it came, and still can.
        if !isOwnedAlike { mode |= 0o600 }
        if new.st_gid != group, fchown(descriptor, .max, group) != 0 { mode = Self.restricted(mode) }
        // The bits of the group are the most that a list gives, and no rights of the group itself (acl(5)).
        if clinux_copy_acl(path, descriptor) != 0 { mode &= 0o707 }
        _ = fchmod(descriptor, mode)
    }

    /// For another group than before: its members and all others may do what both might.
    static func restricted(_ mode: mode_t) -> mode_t {
        let both = mode & (mode >> 3) & 0o007
        return mode & 0o700 | both << 3 | both
    }

    /// Whether another user, who could change it, has put the file into a folder that all may write to.
    private static func isStrangers(_ path: String, _ status: stat) -> Bool {
        let end = path.lastIndex(of: "/")
        var folder = stat()
        guard stat(end.map { String(path[...$0]) } ?? ".", &folder) == 0 else { return true }
        return folder.st_mode & 0o1002 == 0o1002 && status.st_uid != geteuid()
            && status.st_uid != folder.st_uid
    }
}
