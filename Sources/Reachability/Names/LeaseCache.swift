// SPDX-License-Identifier: Apache-2.0

internal import CLinux
import Glibc
import ReachabilityCore

/// Remembers the metered leases of links while no file of a DHCP client has changed; for one thread at a
/// time.
///
/// Three calls of stat(2), and one for each lease that is there, replace the search for the files of all
/// links. A default route may come with a new lease, and so may a carrier: after their events
/// ``haveChanged()`` looks once.
package final class LeaseCache {
    private struct Entry {
        var name: String
        var address: IPAddress?
        /// The files that were read, and when they had changed.
        var files: [(path: String, stamp: FileStamp?)]
        /// Whether one of them, or a folder, had changed a moment before: it can change again without another
        /// time, so it is read again.
        var isFresh: Bool
    }

    private let leases: LeaseFiles
    private let now: () -> Int64
    private var entries: [Int32: Entry] = [:]
    private var folders: [FileStamp?] = []
    private var isCurrent = false
    /// Whether a default route came, or a link changed, after the last look.
    private var hasNews = false

    /// - Parameter now: The time of CLOCK_REALTIME in nanoseconds.
    package init(_ leases: LeaseFiles, now: @escaping () -> Int64 = LeaseCache.time) {
        self.leases = leases
        self.now = now
    }

    /// The files are looked at again before the next answer.
    package func mayHaveChanged() { isCurrent = false }

    /// Processes an event of the kernel.
    package func handle(_ event: NetworkEvent) {
        mayHaveChanged()
        switch event {
        case .routeAdded(let prefix, _): if prefix.length == 0 { hasNews = true }
        case .linkChanged(_, isWirelessNoise: false): hasNews = true
        case .linkRemoved(let index): entries[index] = nil
        // Links may be gone without an event.
        case .overrun, .reopened: entries = [:]
        default: break
        }
    }

    /// Whether a default route came or a link changed, and a lease differs from what was answered.
    package func haveChanged() -> Bool {
        guard hasNews else { return false }
        hasNews = false
        guard !entries.isEmpty else { return false }
        let count = entries.count
        check()
        return entries.count < count
    }

    /// The address of a lease whose server said that traffic costs; nil for none.
    package func meteredAddress(of index: Int32, name: String) -> IPAddress? {
        if !isCurrent { check() }
        if let entry = entries[index], entry.name == name, !entry.isFresh { return entry.address }
        var read: [String] = []
        let address = leases.meteredAddress(of: index, name: name, read: &read)
        let files = read.map { (path: $0, stamp: leases.stamp($0)) }
        let isFresh = (folders + files.map(\.stamp)).contains { $0?.isFresh(at: now()) ?? false }
        entries[index] = Entry(name: name, address: address, files: files, isFresh: isFresh)
        return address
    }

    /// CLOCK_REALTIME in nanoseconds.
    package static func time() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return FileStamp.nanoseconds(time)
    }

    private func check() {
        isCurrent = true
        let found = LeaseFiles.folders.map(leases.stamp)
        guard found == folders else {
            (folders, entries) = (found, [:])
            return
        }
        entries = entries.filter { _, entry in
            !entry.isFresh && entry.files.allSatisfy { leases.stamp($0.path) == $0.stamp }
        }
    }
}

/// What changes when a file is written or replaced, or when a folder gets or loses one.
struct FileStamp: Equatable {
    private let inode: UInt64
    private let size: Int64
    private let changed: Int64

    init(_ state: stat) {
        inode = UInt64(state.st_ino)
        size = Int64(state.st_size)
        changed = Self.nanoseconds(state.st_ctim)
    }

    /// Whether it has changed within 50 ms: the kernel's time for files may stand still for 10 ms.
    func isFresh(at now: Int64) -> Bool { now &- changed < 50_000_000 }

    /// Since 1970; wraps for a date that no clock has and a file's owner may set (utimensat(2)).
    static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
