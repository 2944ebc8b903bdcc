// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import FoundationEssentials
import Glibc

/// A file system in memory that is soon full, in a mount namespace of which only its own thread is a member.
///
/// A suite that needs one is marked like one with a ``NetworkLab``: it takes the same privilege.
package final class SmallDisk: Sendable {
    /// Its root, for every thread of this process and for what it starts; whoever likes may write there.
    package let path: String
    /// Its root as programs know it that were started through ``entering``; SQLite takes no path through proc(5).
    package let mountPoint: String
    /// What comes before a command that is to see it.
    package let entering: [String]
    private let reactor: Reactor

    /// Mounts one that holds so many bytes.
    package init(bytes: Int) async throws {
        let reactor = try Reactor(name: "small-disk")
        var template = Array("\(TemporaryFolder.path)/reach-disk-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw LabError("mkdtemp", errno: errno) }
        mountPoint = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.reactor = reactor
        // What a thread sees is under its own folder there (proc_pid_root(5)).
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

    /// Has it mounted so that nobody can write, as the kernel does after an error of the disk; or so that one can again.
    package func setReadOnly(_ isReadOnly: Bool) async throws {
        let end = try await reactor.run(["mount", "-o", "remount,\(isReadOnly ? "ro" : "rw")", mountPoint])
        guard end.status == .exited(0) else { throw LabError("it cannot be mounted anew: \(end.errors)") }
    }

    deinit {
        reactor.stop()
        rmdir(mountPoint)
    }

    /// Takes the thread into a mount namespace of its own; its name in proc(5).
    private static func enterNamespace() throws -> String {
        guard clinux_unshare(Int32(CLINUX_CLONE_NEWNS)) == 0 else {
            throw LabError("unshare(CLONE_NEWNS)", errno: errno)
        }
        return try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
    }
}
