// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import SessionCore

/// The file from which a later process continues a download: a ``StampedRecord``.
struct ResumeFile: Sendable {
    let path: String
    /// Where the content of its download is written.
    let partialFile: String

    /// Nil where the options name none.
    init?(_ options: TaskOptions) {
        guard let path = options.resumeFile else { return nil }
        self.path = path
        partialFile = options.partialFile ?? "\(path).part"
    }

    /// The record of an earlier process for this request; nil where the download cannot be continued.
    ///
    /// Both files have to belong to this user: in a world-writable folder another user may have made them.
    func record(for request: SessionRequest) -> ResumeRecord? {
        guard let stamped = contents().flatMap({ StampedRecord($0) }), stamped.record.url == request.url,
            stamped.record.method == request.method.rawValue, isPart(stamped.record.partialFile),
            let size = Self.size(of: partialFile), size >= stamped.record.receivedBytes
        else { return nil }
        let record = stamped.record
        return try? ResumeRecord(
            url: record.url, method: record.method, eTag: record.eTag, lastModified: record.lastModified,
            date: record.date, receivedBytes: stamped.trustedBytes(of: size), totalBytes: record.totalBytes,
            partialFile: partialFile)
    }

    /// Whether a record is of this partial file: one that is reached by an open folder (proc_pid_fd(5)) has
    /// another path in each process.
    private func isPart(_ path: String) -> Bool {
        path == partialFile
            || Self.nameInOpenFolder(path) != nil
                && Self.nameInOpenFolder(path) == Self.nameInOpenFolder(partialFile)
    }

    private static func nameInOpenFolder(_ path: String) -> Substring? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard path.hasPrefix("/proc/self/fd/"), parts.count == 6 else { return nil }
        return parts[5]
    }

    /// The URL of the record of an earlier process; nil without one.
    var recordedURL: URL? { contents().flatMap { StampedRecord($0) }?.record.url }

    /// Replaces the record, readable by this user alone for its URL; `isSynced` to outlast a loss of power.
    func write(_ record: ResumeRecord, isSynced: Bool) throws(SessionError) {
        try OwnFile.replace(path, with: StampedRecord(record).encodedAsField(), isSynced: isSynced)
    }

    func remove() { OwnFile.remove(path) }

    private func contents() -> Data? {
        guard let number = try? OwnFile.existing(path, O_RDONLY) else { return nil }
        defer { close(number) }
        var data = Data(count: Self.mostBytes + 1)
        let count = data.withUnsafeMutableBytes { read(number, $0.baseAddress, $0.count) }
        return (0...Self.mostBytes).contains(count) ? data.prefix(count) : nil
    }

    private static let mostBytes = 65_536

    private static func size(of path: String) -> Int64? {
        guard let number = try? OwnFile.existing(path, O_RDONLY) else { return nil }
        defer { close(number) }
        let end = lseek(number, 0, SEEK_END)
        return end >= 0 ? Int64(end) : nil
    }
}
