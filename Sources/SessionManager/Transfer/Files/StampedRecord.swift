// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
import Glibc
package import SessionCore

/// A ``ResumeRecord`` and the boot in which it was written.
///
/// What write(2) has taken outlives a killed process: within a boot the partial file's own length counts.
/// After a loss of power a file may lack its content: then only the record's synced `receivedBytes` count.
package struct StampedRecord: Equatable {
    package var record: ResumeRecord
    /// ``BootIdentifier``; empty where none was stored.
    package var boot: String

    package init(_ record: ResumeRecord, boot: String = BootIdentifier.current) {
        (self.record, self.boot) = (record, boot)
    }

    /// Nil for anything but the forms of ``ResumeFile`` (the boot as a field) and `reach get` (as a line).
    package init?(_ text: Data) {
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard let first = lines.first.map({ Data($0) }), let record = try? ResumeRecord(encoded: first) else {
            return nil
        }
        let field = (try? JSONDecoder().decode(Stamp.self, from: first))?.boot
        self.init(record, boot: field ?? (lines.count > 1 ? String(decoding: lines[1], as: UTF8.self) : ""))
    }

    /// The record as JSON on one line, the boot on the next.
    package func encodedAsLines() throws(SessionError) -> Data {
        try record.encoded() + Data("\n\(boot)\n".utf8)
    }

    /// The record as JSON, the boot as its first field.
    func encodedAsField() throws(SessionError) -> Data {
        try Data("{\"boot\":\"\(boot)\",".utf8) + record.encoded().dropFirst()
    }

    /// How many bytes of a partial file of this size can be continued.
    package func trustedBytes(of size: Int64, now: String = BootIdentifier.current) -> Int64 {
        !boot.isEmpty && boot == now ? size : min(size, record.receivedBytes)
    }

    /// The record for a URL; nil if it is another's; with a checksum for the file the query may differ.
    package func record(for url: URL, isChecked: Bool) -> ResumeRecord? {
        guard record.url == url || isChecked && Self.withoutQuery(record.url) == Self.withoutQuery(url)
        else { return nil }
        return try? ResumeRecord(
            url: url, method: record.method, eTag: record.eTag, lastModified: record.lastModified,
            date: record.date, receivedBytes: record.receivedBytes, totalBytes: record.totalBytes,
            partialFile: record.partialFile)
    }

    private static func withoutQuery(_ url: URL) -> Substring {
        url.absoluteString.prefix { $0 != "?" && $0 != "#" }
    }

    private struct Stamp: Decodable {
        let boot: String
    }
}

/// Which start of the machine this is.
package enum BootIdentifier {
    /// `boot_id` (random(4)); empty where the kernel has none.
    package static let current: String = {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)).prefix { $0 > 0x20 }, as: UTF8.self)
    }()
}
