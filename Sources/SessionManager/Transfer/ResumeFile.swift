// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import SessionCore

/// The file that tells a later process how a download goes on: its ``ResumeRecord``, and the boot in which it was written.
///
/// The record counts the bytes that are known to be on the disk. Within the same boot the partial file itself tells how far it got: what
/// write(2) has taken outlives a process that is killed, and is in order. After another boot only the count is relied upon.
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

    /// What an earlier process has left of this request; nil where nothing can be gone on with.
    ///
    /// Both files have to be this user's own: in a folder for everybody another user may have put them there.
    func record(for request: SessionRequest) -> ResumeRecord? {
        guard let text = contents(), let record = try? ResumeRecord(encoded: text),
            record.url == request.url, record.method == request.method.rawValue,
            record.partialFile == partialFile
        else { return nil }
        guard let size = Self.size(of: partialFile) else { return nil }
        let isOfThisBoot = (try? JSONDecoder().decode(Stamp.self, from: text))?.boot == Self.boot
        guard size >= record.receivedBytes else { return nil }
        return try? record.with(receivedBytes: isOfThisBoot ? size : record.receivedBytes)
    }

    /// Puts a record in the place of the former one, for this user alone: a URL may hold a password or a signature.
    ///
    /// - Parameter isSynced: whether it has to outlast a loss of power.
    func write(_ record: ResumeRecord, isSynced: Bool) throws(SessionError) {
        let copy = "\(path).new"
        let text = try record.encoded()
        let stamp = Data("{\"boot\":\"\(Self.boot)\",".utf8)
        _ = unlink(copy)
        let number = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw FileFailure.cannotCreate(path, errno) }
        let all = stamp + text.dropFirst()
        let count = all.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
        var failure = count == all.count ? 0 : errno
        if failure == 0, isSynced, fsync(number) != 0 { failure = errno }
        if close(number) != 0, failure == 0, errno != EINTR { failure = errno }
        if failure == 0, rename(copy, path) != 0 { failure = errno }
        guard failure == 0 else {
            _ = unlink(copy)
            throw FileFailure.cannotWrite(path, failure)
        }
    }

    /// Nothing is to be gone on with.
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

    /// What the file has besides the record.
    private struct Stamp: Decodable {
        let boot: String
    }

    /// The number of this boot (random(4)); without one no length is relied upon but the counted one.
    private static let boot: String = {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return UInt64.random(in: 0 ... .max).description }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 36)
        let count = read(file, &bytes, bytes.count)
        guard count == bytes.count else { return UInt64.random(in: 0 ... .max).description }
        return String(decoding: bytes, as: UTF8.self)
    }()
}
