// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Storage

/// A file with a lock (flock(2)); the kernel releases the lock when the process ends, by whatever cause.
struct LockFile: ~Copyable {
    let descriptor: OwnedDescriptor

    init(_ path: String) throws(OutboxError) {
        let number = PrivateFile.openOrMake(path)
        guard number >= 0 else { throw OutboxError(DatabaseFile.failure("cannot open it", path)) }
        descriptor = OwnedDescriptor(adopting: number)
    }

    /// Unlocks explicitly: a forked child before its exec would keep the lock by its copy of the descriptor.
    deinit { unlock() }

    /// Waits until it is free of others' exclusive locks.
    func lockShared() { lock(LOCK_SH) }
    /// Waits until it is free.
    func lockExclusive() { lock(LOCK_EX) }
    func unlock() { _ = flock(descriptor.number, LOCK_UN) }

    private func lock(_ operation: Int32) {
        while flock(descriptor.number, operation) != 0, errno == EINTR {}
    }

    /// Acquires it exclusively and records the process; false if another process holds it.
    func acquire() -> Bool {
        guard flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 else { return false }
        let text = "\(getpid())\n"
        ftruncate(descriptor.number, 0)
        _ = pwrite(descriptor.number, text, text.utf8.count, 0)
        return true
    }

    /// The process that holds the lock, from the file's content.
    var holder: Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor.number, &bytes, bytes.count, 0)
        return count > 0 ? Int32(String(decoding: bytes[..<count].prefix { $0 != 10 }, as: UTF8.self)) : nil
    }
}
