// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import FoundationEssentials
import Glibc

/// A small file system in memory, in a mount namespace that only its own thread is a member of.
///
/// A suite that needs one is marked like one with a ``NetworkLab``: both need the same privilege.
package final class SmallDisk: Sendable {
    /// Its root, for every thread of this process and its children; writable for all users.
    package let path: String
    /// Its root for programs started through ``entering``; SQLite accepts no path through proc(5).
    package let mountPoint: String
    /// The command prefix for programs that have to see it.
    package let entering: [String]
    private let reactor: Reactor

    /// Mounts one of this size.
    package init(bytes: Int) async throws {
        let reactor = try Reactor(name: "small-disk")
        var template = Array("\(TemporaryFolder.path)/reach-disk-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw LabError("mkdtemp", errno: errno) }
        mountPoint = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.reactor = reactor
        // A thread's own view of the file systems is below this folder (proc_pid_root(5)).
        let thread = "/proc/\(try await reactor.result { try Self.enterNamespace() })"
        path = thread + "/root\(mountPoint)"
        entering = ["nsenter", "--mount=\(thread)/ns/mnt", "--"]
        let end = try await reactor.run([
            "sh", "-c", "mount --make-rprivate / && exec mount -t tmpfs -o size=$0,mode=777 none $1",
            "\(bytes)",
            mountPoint,
        ])
        guard end.status == .exited(0) else { throw LabError("no file system can be mounted: \(end.errors)") }
    }

    /// Remounts it read-only, as the kernel does after a disk error, or writable again.
    package func setReadOnly(_ isReadOnly: Bool) async throws {
        let end = try await reactor.run(["mount", "-o", "remount,\(isReadOnly ? "ro" : "rw")", mountPoint])
        guard end.status == .exited(0) else { throw LabError("it cannot be mounted anew: \(end.errors)") }
    }

    deinit {
        reactor.stop()
        rmdir(mountPoint)
    }

    /// Moves the thread into a mount namespace of its own; returns its name in proc(5).
    private static func enterNamespace() throws -> String {
        guard clinux_unshare(Int32(CLINUX_CLONE_NEWNS)) == 0 else {
            throw LabError("unshare(CLONE_NEWNS)", errno: errno)
        }
        return try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
    }
}
