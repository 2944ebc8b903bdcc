// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import Service
import SessionManager
import Synchronization

/// The files of a download: the destination, and beside it what has come so far with a record of where it came from.
final class GetFiles: SessionDelegate {
    /// Where the whole file goes.
    let path: String
    /// What has come so far.
    var part: String { "\(path).part" }
    /// Where that came from.
    var recordPath: String { "\(path).part.resume" }
    /// Held for as long as this process writes.
    private let lock = Mutex<OwnedDescriptor?>(nil)

    init(_ path: String) { self.path = path }

    /// Makes sure that nobody else writes the same file.
    func begin() throws(SessionError) {
        let rights = rights
        // A pipe that nobody reads would be waited for.
        let number = open(part, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, rights)
        guard number >= 0 else { throw FileFailure.cannotCreate(part, errno) }
        lock.withLock { $0 = OwnedDescriptor(adopting: number) }
        var status = stat()
        if fstat(number, &status) == 0, status.st_mode & 0o666 & ~rights != 0 {
            _ = fchmod(number, status.st_mode & rights)
        }
        // File systems without locks (ENOLCK, EOPNOTSUPP) are used without.
        if flock(number, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            throw SessionError(
                .cannotCreateFile, "\(path) is being fetched by another process",
                advice: "wait for it, or choose another name")
        }
    }

    /// What others may do with the file, as far as the umask lets them: no more than with that of this user which is replaced.
    private var rights: mode_t {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid()
        else { return 0o666 }
        return 0o600 | status.st_mode & 0o066
    }

    /// The bytes that have come so far.
    var partSize: Int64 {
        var status = stat()
        return lstat(part, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : 0
    }

    /// What an earlier process has left of this URL; nil where there is nothing that can be gone on with.
    ///
    /// The record was written when the head came. How far the file got since then, it tells itself: also a process that was
    /// killed has written what it had received, in order.
    func record(for url: URL) -> ResumeRecord? {
        guard let text = try? Data(contentsOf: URL(filePath: recordPath)),
            let record = try? ResumeRecord(encoded: text), record.url == url, partSize > 0
        else { return nil }
        return try? ResumeRecord(
            url: record.url, method: record.method, eTag: record.eTag, lastModified: record.lastModified,
            date: record.date, receivedBytes: partSize, totalBytes: record.totalBytes, partialFile: part)
    }

    /// Writes the record before the first byte comes, so that it is there however this process ends.
    func task(_ task: SessionTask, didReceive response: SessionResponse) async -> ResponseDisposition {
        let request = task.originalRequest
        // Otherwise it goes on with what the record tells already.
        guard response.statusCode == 200 else { return .allow }
        // Emptied first: the bytes of an earlier version must never lie beside the record of a later one.
        _ = truncate(part, 0)
        if ResumeRules.canRecord(request, response: response),
            let record = try? ResumeRecord(
                request: request, response: response, receivedBytes: 0, totalBytes: response.contentLength,
                partialFile: part), let text = try? record.encoded()
        {
            write(record: text)
        } else {
            _ = unlink(recordPath)
        }
        return .allow
    }

    /// Puts the record in its place, for this user alone: a URL may hold a password or a signature.
    ///
    /// Without it there is nothing to go on from, and nothing else is lost.
    private func write(record text: Data) {
        if AtomicFile(recordPath, mode: 0o600).write(Array(text)) != nil { _ = unlink(recordPath) }
    }

    /// Puts the complete file in its place.
    func commit() throws(SessionError) {
        // Without this a power cut after the rename could leave an empty file where a good one was.
        let number = open(part, O_RDONLY | O_CLOEXEC)
        if number >= 0 {
            let file = OwnedDescriptor(adopting: number)
            guard fsync(file.number) == 0 || errno == EINVAL else {
                throw FileFailure.cannotWrite(part, errno)
            }
        }
        guard rename(part, path) == 0 else { throw FileFailure.cannotMove(part, to: path, errno) }
        _ = unlink(recordPath)
    }

    /// Throws away what has come.
    func discard() {
        _ = unlink(part)
        _ = unlink(recordPath)
    }

    /// Keeps what can be gone on with and removes the rest.
    func settle() {
        if partSize == 0 || access(recordPath, F_OK) != 0 { discard() }
    }
}
