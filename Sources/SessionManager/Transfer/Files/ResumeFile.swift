// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
import Glibc
package import SessionCore

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
            stamped.record.method == request.method.rawValue, stamped.record.partialFile == partialFile,
            let size = Self.size(of: partialFile), size >= stamped.record.receivedBytes
        else { return nil }
        return try? stamped.record.with(receivedBytes: stamped.trustedBytes(of: size))
    }

    /// Replaces the record, readable by this user alone for its URL; `isSynced` to outlast a loss of power.
    func write(_ record: ResumeRecord, isSynced: Bool) throws(SessionError) {
        let copy = "\(path).new"
        let text = try StampedRecord(record).encodedAsField()
        _ = unlink(copy)
        let number = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw FileFailure.cannotCreate(path, errno) }
        let count = text.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
        var failure = count == text.count ? 0 : errno
        if failure == 0, isSynced, fsync(number) != 0 { failure = errno }
        if close(number) != 0, failure == 0, errno != EINTR { failure = errno }
        if failure == 0, rename(copy, path) != 0 { failure = errno }
        guard failure == 0 else {
            _ = unlink(copy)
            throw FileFailure.cannotWrite(path, failure)
        }
    }

    func remove() { _ = unlink(path) }

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
