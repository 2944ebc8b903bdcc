// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Storage

/// Disk space reserved for removals: SQLite writes before it frees, so a full disk would permit none.
///
/// The reserve is a file that is truncated when a removal finds the disk full; while it is empty no request
/// is stored. Filling and emptying hold the file's lock: a second process that meets the full disk waits
/// until the space is really free, which is later than unlink(2) returns.
struct DiskReserve: Sendable {
    let path: String
    /// Holds the log up to its next checkpoint, the growth of the database by it, and a margin.
    static let size = 2 << 20

    /// Makes and fills the file if necessary.
    func ensure() throws(OutboxError) {
        if isFull { return }
        // An attempt that does not fit would use up all free space for an instant and fail other processes.
        guard hasRoom() else { throw failure(ENOSPC) }
        let file = try LockFile(path)
        file.lockExclusive()
        // Another process has come first.
        if isFull { return }
        let code = posix_fallocate(file.descriptor.number, 0, off_t(Self.size))
        guard code == 0 else {
            ftruncate(file.descriptor.number, 0)
            throw failure(code)
        }
    }

    /// Frees the reserved space; if it was empty, another process has just freed it, and there may be space.
    func release() {
        // Not made here: that would use up some of the missing space.
        guard access(path, F_OK) == 0, let file = try? LockFile(path) else { return }
        file.lockExclusive()
        ftruncate(file.descriptor.number, 0)
    }

    private var isFull: Bool { (DatabaseFile.size(path) ?? 0) >= Self.size }

    /// Whether it fits and leaves space for other processes, once so many bytes are free that are not yet.
    private func hasRoom(freeing bytes: Int64 = 0) -> Bool {
        guard let space = FileSystemSpace(path: PrivateFile.folder(of: path)) else { return true }
        let (free, isMore) = space.free.addingReportingOverflow(UInt64(clamping: bytes))
        return isMore || free >= UInt64(Self.size + Self.size / 4)
    }

    /// Whether it was released, and can be filled again once so many bytes more are free.
    func canBeRestored(freeing bytes: Int64) -> Bool {
        guard let size = DatabaseFile.size(path), size < Self.size else { return false }
        return hasRoom(freeing: bytes)
    }

    private func failure(_ code: Int32) -> OutboxError {
        errno = code
        return OutboxError(DatabaseFile.failure("cannot keep \(Self.size) bytes free for removals", path))
    }
}
