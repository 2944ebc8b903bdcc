// SPDX-License-Identifier: Apache-2.0

import CLinux
import FoundationEssentials
import Glibc

/// The file system rights of a folder's owner, for a thread of root.
///
/// A link that the user has put into the folder, or a name with ".." in a database, then leads root no
/// further than the user alone gets: the kernel checks each access, SQLite's included, against the thread's
/// file system identity (setfsuid(2), credentials(7)).
package struct FolderRights: Sendable, Equatable {
    private let folder: String
    package let user: UInt32
    package let group: UInt32

    init(folder: String, user: UInt32, group: UInt32) {
        self.folder = folder
        self.user = user
        self.group = group
    }

    /// The rights that this process assumes in a folder, or where it is made; nil if its own are right.
    package static func needed(in folder: String) -> FolderRights? {
        guard geteuid() == 0 else { return nil }
        return stranger(among: owners(of: folder))
    }

    /// The nearest owner other than root: that user decides where the path leads.
    static func stranger(among owners: [FolderRights]) -> FolderRights? { owners.first { $0.user != 0 } }

    /// The owners of the folder and its parent, or the nearest existing one, and of the links in the path.
    ///
    /// Folders further up are trusted, such as a home directory in which root has a folder of its own.
    private static func owners(of folder: String) -> [FolderRights] {
        var (owners, links): ([FolderRights], [FolderRights]) = ([], [])
        var path = folder
        var wanted = 2
        while true {
            var status = stat()
            if wanted > 0, stat(path, &status) == 0 {
                owners.append(FolderRights(folder: folder, user: status.st_uid, group: status.st_gid))
                wanted = path == folder ? 1 : 0
            }
            if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
                links.append(FolderRights(folder: folder, user: status.st_uid, group: status.st_gid))
            }
            let above = PrivateFile.folder(of: path)
            guard above != path else { return (owners + links).filter { isKnown($0.user) } }
            path = above
        }
    }

    /// Whether a user has a number in this user namespace (user_namespaces(7)); all others appear as one
    /// user, whose rights cannot be assumed.
    private static func isKnown(_ user: UInt32) -> Bool {
        guard user != 0, let map = try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8)
        else { return true }
        return map.split(separator: "\n").contains { line in
            let numbers = line.split(separator: " ").compactMap { UInt64($0) }
            return numbers.count == 3 && UInt64(user) >= numbers[0] && UInt64(user) - numbers[0] < numbers[2]
        }
    }

    /// Assumes them for the rest of the calling thread's life.
    package func assume() throws(StorageError) { _ = try apply() }

    /// Runs `body` on the calling thread with these rights.
    package func perform<Value>(_ body: () -> Value) throws(StorageError) -> Value {
        let former = try apply()
        defer { former?.restore() }
        return body()
    }

    /// The rights of a thread before.
    private struct Former {
        var user: UInt32
        var group: UInt32
        var groups: [UInt32]

        func restore() {
            _ = clinux_set_file_user(user)
            _ = clinux_set_file_group(group)
            _ = groups.withUnsafeBufferPointer { clinux_set_thread_groups(Int32($0.count), $0.baseAddress) }
        }
    }

    /// Returns nil if the thread has them already.
    private func apply() throws(StorageError) -> Former? {
        // An invalid number only queries the current user (setfsuid(2)).
        guard clinux_set_file_user(.max) != user else { return nil }
        var groups = [UInt32](repeating: 0, count: Int(max(getgroups(0, nil), 0)))
        groups.removeLast(groups.count - Int(max(getgroups(Int32(groups.count), &groups), 0)))
        let own = Self.primaryGroup(of: user) ?? group
        // Groups first: root's right to change them is lost with the user (capabilities(7), CAP_SETGID).
        guard clinux_set_thread_groups(0, nil) == 0 || groups.isEmpty else { throw refusal }
        let former = Former(
            user: clinux_set_file_user(.max), group: clinux_set_file_group(own), groups: groups)
        _ = clinux_set_file_user(user)
        guard clinux_set_file_user(.max) == user, clinux_set_file_group(.max) == own else {
            former.restore()
            throw refusal
        }
        return former
    }

    private var refusal: StorageError {
        StorageError(
            .cannotOpen, "it belongs to user \(user), whose rights cannot be taken here", path: folder,
            advice: "do it as user \(user)")
    }

    /// A user's primary group; nil for a user unknown to the system.
    private static func primaryGroup(of user: UInt32) -> UInt32? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var room = [CChar](repeating: 0, count: 16 << 10)
        guard getpwuid_r(user, &entry, &room, room.count, &found) == 0, found != nil else { return nil }
        return entry.pw_gid
    }
}
