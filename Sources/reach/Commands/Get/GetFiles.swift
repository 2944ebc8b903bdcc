// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import Service
import SessionManager
import Synchronization

/// The files of a download: the destination, and beside it the partial file with a record of its origin.
final class GetFiles: Sendable {
    /// The destination of the whole file.
    let path: String
    var part: String { "\(path).part" }
    /// The record of the partial file's origin.
    var recordPath: String { "\(path).part.resume" }
    /// Whether a checksum verifies the file.
    let isChecked: Bool
    /// Whether any of several servers continues the part.
    private let hasMirrors: Bool
    /// Locked while this process writes.
    private let lock = Mutex<OwnedDescriptor?>(nil)
    /// The rights of the file that is replaced.
    private let former = Mutex<FileRights?>(nil)
    private let syncing = PeriodicSync()

    init(_ path: String, isChecked: Bool = false, hasMirrors: Bool = false) {
        self.path = path
        self.isChecked = isChecked
        self.hasMirrors = hasMirrors
    }

    /// Whether an earlier run has left the whole file, and no part of it.
    var isFinished: Bool { access(path, F_OK) == 0 && access(part, F_OK) != 0 && errno == ENOENT }

    /// Locks the file against other processes.
    func begin() throws(SessionError) {
        // Another user's record is not trusted, and this process could not replace it in every folder.
        if let error = recordFault { throw error }
        let rights = FileRights(of: path)
        let part = part
        let number = try OwnFile.locked(part) { () throws(SessionError) in
            try OwnFile.make(part, mode: rights == nil ? 0o666 : FileRights.whileWritten)
        }
        guard let number else {
            throw SessionError(
                .cannotCreateFile, "\(path) is being fetched by another process",
                advice: "wait for it, or choose another name")
        }
        lock.withLock { $0 = OwnedDescriptor(adopting: number) }
        former.withLock { $0 = rights }
        // An earlier attempt may have left a partial file with other rights; it has none until the end.
        if rights != nil { _ = fchmod(number, FileRights.whileWritten) }
    }

    /// The fault of a record that is not this user's own; nil if it is, or if there is none.
    private var recordFault: SessionError? {
        do throws(SessionError) {
            close(try OwnFile.existing(recordPath, O_RDONLY))
            return nil
        } catch {
            return error.code == .fileDoesNotExist ? nil : error
        }
    }

    /// The size of the partial file.
    var partSize: Int64 {
        var status = stat()
        return lstat(part, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : 0
    }

    /// The record of an earlier process for this URL; nil where the download cannot be continued.
    ///
    /// Within the same boot the length of the part counts, which may have grown since the record was written.
    func record(for url: URL) -> ResumeRecord? {
        guard let text = recordText, let stored = StampedRecord(text),
            let record = stored.record(for: url, isChecked: isChecked)
        else { return nil }
        let count = stored.trustedBytes(of: partSize)
        guard count > 0 else { return nil }
        return try? ResumeRecord(
            url: record.url, method: record.method, eTag: record.eTag, lastModified: record.lastModified,
            date: record.date, receivedBytes: count, totalBytes: record.totalBytes, partialFile: part)
    }

    private var recordText: Data? {
        guard let number = try? OwnFile.existing(recordPath, O_RDONLY) else { return nil }
        let file = OwnedDescriptor(adopting: number)
        var text = Data(count: 1 << 16)
        let count = text.withUnsafeMutableBytes { read(file.number, $0.baseAddress, $0.count) }
        return count > 0 ? text.prefix(count) : nil
    }

    /// Writes the record before the first byte of content, so that it exists however this process ends.
    func begin(_ request: SessionRequest, _ response: SessionResponse) {
        // Otherwise the download continues, and the record exists.
        guard response.statusCode == 200 else { return }
        // Emptied first: bytes of an earlier version must never lie beside the record of a later one.
        _ = truncate(part, 0)
        if ResumeRules.canRecord(request, response: response, isChecked: isChecked),
            let record = try? ResumeRecord(
                request: request,
                // Another server has other validators.
                response: hasMirrors ? SessionResponse(url: response.url, statusCode: 200) : response,
                receivedBytes: 0, totalBytes: response.contentLength, partialFile: part), write(record)
        {
            syncing.begin { [weak self] in self?.sync() }
        } else {
            // Without a record the next attempt starts from the beginning; nothing else is lost.
            _ = unlink(recordPath)
        }
    }

    /// Replaces the record, for this user alone, as a URL may contain a password; false on failure.
    private func write(_ record: ResumeRecord) -> Bool {
        guard let text = try? StampedRecord(record).encodedAsLines() else { return false }
        return AtomicFile(recordPath, mode: 0o600).write(Array(text)) == nil
    }

    /// Syncs the partial file to the disk, and records its size.
    private func sync() {
        guard let text = recordText, let stored = StampedRecord(text) else { return }
        let size = partSize
        let isSynced = lock.withLock { file in
            switch file {
            case .some(let file): fdatasync(file.number) == 0
            case .none: false
            }
        }
        guard isSynced, size > stored.record.receivedBytes || stored.boot != BootIdentifier.current,
            let record = try? stored.record.with(receivedBytes: size)
        else { return }
        // On a full disk the former record remains, which covers less.
        _ = write(record)
    }

    /// Renames the complete partial file to its destination.
    func commit() throws(SessionError) {
        syncing.end()
        let rights = FileRights(of: path) ?? former.withLock { $0 }
        // Without this sync a power cut after the rename could leave an empty file in place of a good one.
        let failure = lock.withLock { file -> Int32 in
            guard let number = file?.number else { return 0 }
            rights?.give(to: number)
            return fsync(number) == 0 || errno == EINVAL ? 0 : errno
        }
        if failure != 0 { throw FileFailure.cannotWrite(part, failure) }
        guard rename(part, path) == 0 else { throw FileFailure.cannotMove(part, to: path, errno) }
        _ = unlink(recordPath)
    }

    /// Removes the partial file and its record.
    func discard() {
        syncing.end()
        _ = unlink(part)
        _ = unlink(recordPath)
    }

    /// Keeps a part that can be continued and removes any other.
    func settle() {
        syncing.end()
        if partSize == 0 || access(recordPath, F_OK) != 0 { discard() } else { sync() }
    }
}
