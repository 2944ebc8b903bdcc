// SPDX-License-Identifier: Apache-2.0

import CLinux
import FoundationEssentials
import Glibc

/// The rights to files of the user that a folder belongs to, for a thread of root's.
///
/// What a user has put into a folder of its own (a link, a name with ".." in a database) leads root no further than that user gets alone:
/// the kernel checks each access against the thread's file system identity (setfsuid(2), credentials(7)), SQLite's own included.
package struct FolderRights: Sendable, Equatable {
    private let folder: String
    package let user: UInt32
    package let group: UInt32

    init(folder: String, user: UInt32, group: UInt32) {
        self.folder = folder
        self.user = user
        self.group = group
    }

    /// Those that this process takes to work in a folder; nil where its own are the right ones.
    ///
    /// The folder may be missing: the one that it is to be made in counts then.
    package static func needed(in folder: String) -> FolderRights? {
        guard geteuid() == 0 else { return nil }
        return stranger(among: owners(of: folder))
    }

    /// The nearest owner other than root: that user decides what the path leads to.
    static func stranger(among owners: [FolderRights]) -> FolderRights? { owners.first { $0.user != 0 } }

    /// Who owns the folder and the one that it lies in, or the nearest one above it that is there; and the links in its path.
    ///
    /// Folders further up are believed, as those of a home directory in which root keeps a folder of its own.
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

    /// Whether a user has a number in this user namespace (user_namespaces(7)).
    ///
    /// All others look like one there, whose rights cannot be taken; root has no power over their files either.
    private static func isKnown(_ user: UInt32) -> Bool {
        guard user != 0, let map = try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8) else {
            return true
        }
        return map.split(separator: "\n").contains { line in
            let numbers = line.split(separator: " ").compactMap { UInt64($0) }
            return numbers.count == 3 && UInt64(user) >= numbers[0] && UInt64(user) - numbers[0] < numbers[2]
        }
    }

    /// Gives them to the calling thread for good.
    package func assume() throws(StorageError) { _ = try take() }

    /// Has the calling thread do something with them.
    package func perform<Value>(_ body: () -> Value) throws(StorageError) -> Value {
        let former = try take()
        defer { former?.restore() }
        return body()
    }

    /// What a thread had before.
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

    /// Nil where the thread has them already.
    private func take() throws(StorageError) -> Former? {
        // An impossible number only asks (setfsuid(2)).
        guard clinux_set_file_user(.max) != user else { return nil }
        var groups = [UInt32](repeating: 0, count: Int(max(getgroups(0, nil), 0)))
        groups.removeLast(groups.count - Int(max(getgroups(Int32(groups.count), &groups), 0)))
        let own = Self.primaryGroup(of: user) ?? group
        // Groups first: root's right to change them does not go with the user (capabilities(7), CAP_SETGID).
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

    /// A user's own group; nil where the system does not know the user.
    private static func primaryGroup(of user: UInt32) -> UInt32? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var room = [CChar](repeating: 0, count: 16 << 10)
        guard getpwuid_r(user, &entry, &room, room.count, &found) == 0, found != nil else { return nil }
        return entry.pw_gid
    }
}
