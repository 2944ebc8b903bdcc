// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionManager

/// What `FILE.part.resume` says: where the bytes of `FILE.part` came from, and how many of them are on the disk for certain.
struct GetRecord: Equatable {
    /// Its `receivedBytes` are those that were synced.
    var record: ResumeRecord
    /// The start of the machine under which it was written (`boot_id`, random(4)); empty where the kernel does not tell.
    var boot: String

    /// The record as JSON on one line, and the start of the machine on the next.
    func encoded() throws(SessionError) -> Data { try record.encoded() + Data("\n\(boot)\n".utf8) }

    init(_ record: ResumeRecord, boot: String) { (self.record, self.boot) = (record, boot) }

    /// Nil for what is no such text.
    init?(_ text: Data) {
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard let first = lines.first, let record = try? ResumeRecord(encoded: Data(first)) else {
            return nil
        }
        self.record = record
        boot = lines.count > 1 ? String(decoding: lines[1], as: UTF8.self) : ""
    }

    /// How many of the part's bytes can be gone on with.
    ///
    /// What a process has written stays there when it is killed. After a loss of power a file may have its length, and nothing of its
    /// content: then only what was synced counts.
    func trustedBytes(of size: Int64, now boot: String) -> Int64 {
        let isSameStart = !boot.isEmpty && boot == self.boot
        return isSameStart ? size : min(size, record.receivedBytes)
    }

    /// The record for a URL; nil where it is of another one.
    ///
    /// - Parameter isChecked: Whether a checksum tells the file: then the query may differ, as that of a URL which was signed anew.
    func record(for url: URL, isChecked: Bool) -> ResumeRecord? {
        guard record.url == url || isChecked && Self.place(record.url) == Self.place(url) else { return nil }
        return try? ResumeRecord(
            url: url, method: record.method, eTag: record.eTag, lastModified: record.lastModified,
            date: record.date, receivedBytes: record.receivedBytes, totalBytes: record.totalBytes,
            partialFile: record.partialFile)
    }

    /// The text before the query.
    private static func place(_ url: URL) -> Substring {
        url.absoluteString.prefix { $0 != "?" && $0 != "#" }
    }
}
