// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Storage

/// Space that is kept free for removing entries: SQLite writes before it frees, so an outbox on a full disk
/// could never be emptied.
///
/// A file that is emptied where a removal finds the disk full. While it is empty nothing is taken, so that
/// new entries do not use up what removals need. A caller that fills or empties it holds its lock: a process
/// that meets the full disk at the same time as another waits until the space is really free, which takes
/// longer than for a name to go (unlink(2)).
struct DiskReserve: Sendable {
    let path: String
    /// The log of changes up to its next check point, the growth of the database by that, and some.
    static let size = 2 << 20

    /// Makes sure that it is there.
    func ensure() throws(OutboxError) {
        if isFull { return }
        // An attempt that does not fit would use up all free space for an instant and fail other processes.
        guard hasRoom else { throw failure(ENOSPC) }
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

    /// Gives it up.
    ///
    /// Where it was empty already, another process has just released it, and there may be space.
    func release() {
        // Not made here: that would use up some of the missing space.
        guard access(path, F_OK) == 0, let file = try? LockFile(path) else { return }
        file.lockExclusive()
        ftruncate(file.descriptor.number, 0)
    }

    private var isFull: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_size >= Self.size
    }

    /// Whether it fits and leaves space for other processes.
    private var hasRoom: Bool {
        var room = statvfs()
        guard statvfs(PrivateFile.folder(of: path), &room) == 0 else { return true }
        return UInt64(room.f_bavail) * UInt64(room.f_frsize) >= UInt64(Self.size + Self.size / 4)
    }

    private func failure(_ code: Int32) -> OutboxError {
        errno = code
        return OutboxError(DatabaseFile.failure("cannot keep \(Self.size) bytes free for removals", path))
    }
}
