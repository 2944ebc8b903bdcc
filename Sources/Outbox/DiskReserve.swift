// SPDX-License-Identifier: Apache-2.0

import Glibc
import OutboxCore
import Storage

/// Space that is kept free for removing entries: SQLite writes before it frees, so an outbox on a full disk could never be emptied.
///
/// A file that is given up where a removal finds the disk full. While it is missing nothing is taken, so that new entries do not
/// use up what removals need.
struct DiskReserve: Sendable {
    let path: String
    /// The log of changes up to its next check point, the growth of the database by that, and some.
    static let size = 2 << 20

    /// Makes sure that it is there.
    func ensure() throws(OutboxError) {
        if access(path, F_OK) == 0 { return }
        // To try it where it does not fit would take all that is free for an instant, and fail others who work on the files.
        guard hasRoom else {
            errno = ENOSPC
            throw OutboxError(DatabaseFile.failure("cannot keep \(Self.size) bytes free for removals", path))
        }
        let descriptor = PrivateFile.make(path)
        // Another process has come first.
        if descriptor < 0, errno == EEXIST { return }
        guard descriptor >= 0 else { throw OutboxError(DatabaseFile.failure("cannot keep space free", path)) }
        defer { close(descriptor) }
        let failure = posix_fallocate(descriptor, 0, off_t(Self.size))
        guard failure == 0 else {
            unlink(path)
            errno = failure
            throw OutboxError(DatabaseFile.failure("cannot keep \(Self.size) bytes free for removals", path))
        }
    }

    /// Whether it fits, and leaves something for those who work on the files meanwhile.
    private var hasRoom: Bool {
        var room = statvfs()
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard statvfs(folder, &room) == 0 else { return true }
        return UInt64(room.f_bavail) * UInt64(room.f_frsize) >= UInt64(Self.size + Self.size / 4)
    }

    /// Gives it up.
    ///
    /// Where it was gone already, somebody else has just done so, and there may be room all the same.
    func release() { unlink(path) }
}
