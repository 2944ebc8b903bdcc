// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import FoundationEssentials
import Glibc
package import SessionCore

/// Files that keep what has come so far: opened only where they are this user's own.
///
/// In a world-writable folder another user can have put a file, or a second name of one, in their place, and
/// could forge the content so far, and read and change the rest. The kernel refuses some of that where
/// protected_regular is set (proc_sys_fs(5)).
package enum OwnFile {
    /// Opens a file for writing, or makes it; the caller closes it.
    package static func make(_ path: String, mode: UInt32 = 0o666) throws(SessionError) -> Int32 {
        if let fault = FileFailure.fault(ofPath: path) { throw fault }
        // A file can be removed between the two.
        for _ in 0..<10 {
            let new = open(path, O_WRONLY | O_CREAT | O_EXCL | flags, mode)
            if new >= 0 { return new }
            guard errno == EEXIST else { throw FileFailure.cannotCreate(path, errno) }
            let number = open(path, O_WRONLY | flags)
            if number >= 0 { return try checked(number, path) }
            guard errno == ENOENT else { throw FileFailure.cannotCreate(path, errno) }
        }
        throw FileFailure.cannotCreate(path, EEXIST)
    }

    /// Opens a file that is there; the caller closes it.
    ///
    /// - Parameter access: O_WRONLY or O_RDONLY.
    package static func existing(_ path: String, _ access: Int32) throws(SessionError) -> Int32 {
        if let fault = FileFailure.fault(ofPath: path) { throw fault }
        let number = open(path, access | flags)
        guard number >= 0 else { throw FileFailure.cannotRead(path, errno) }
        return try checked(number, path)
    }

    /// Opens a file by `open` and locks it until the descriptor is closed (flock(2)); a killed process leaves
    /// no lock.
    ///
    /// - Returns: the descriptor, which the caller closes; nil while another task or process holds the lock.
    package static func locked(
        _ path: String, _ open: () throws(SessionError) -> Int32
    ) throws(SessionError) -> Int32? {
        // Its owner may rename or remove the file between opening and locking.
        for _ in 0..<10 {
            let number = try open()
            // On file systems without locks (ENOLCK, EOPNOTSUPP) the file is used unlocked.
            let isTaken = flock(number, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
            if !isTaken, isOpen(number, at: path) { return number }
            close(number)
            if isTaken { break }
        }
        return nil
    }

    /// Whether a path leads to the open file.
    package static func isOpen(_ number: Int32, at path: String) -> Bool {
        var (open, named) = (stat(), stat())
        return fstat(number, &open) == 0 && lstat(path, &named) == 0 && open.st_dev == named.st_dev
            && open.st_ino == named.st_ino
    }

    /// Replaces a file by one that this user alone may read: it has the old content or the new one, never a
    /// part.
    ///
    /// - Parameter isSynced: whether the content outlasts a loss of power.
    static func replace(_ path: String, with content: Data, isSynced: Bool) throws(SessionError) {
        if let fault = FileFailure.fault(ofPath: path) { throw fault }
        let copy = copy(of: path)
        _ = unlink(copy)
        let number = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw FileFailure.cannotCreate(path, errno) }
        var (failure, rest): (Int32, Data) = (0, content)
        while !rest.isEmpty, failure == 0 {
            let count = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { failure = errno }
        }
        if failure == 0, isSynced, fsync(number) != 0 { failure = errno }
        if close(number) != 0, failure == 0, errno != EINTR { failure = errno }
        if failure == 0, rename(copy, path) != 0 { failure = errno }
        guard failure == 0 else {
            _ = unlink(copy)
            throw FileFailure.cannotWrite(path, failure)
        }
    }

    /// Removes a file that ``replace(_:with:isSynced:)`` writes, and what a killed process has left of it.
    static func remove(_ path: String) {
        guard FileFailure.fault(ofPath: path) == nil else { return }
        _ = unlink(path)
        _ = unlink(copy(of: path))
    }

    private static func copy(of path: String) -> String { "\(path).new" }

    /// Not blocking: open(2) would wait for the reader of a pipe.
    private static let flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

    private static func checked(_ number: Int32, _ path: String) throws(SessionError) -> Int32 {
        var status = stat()
        let isRegular = fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let fault: String? =
            if !isRegular {
                "is no regular file"
            } else if status.st_nlink > 1 {
                "has another name as well (a hard link), which may be another user's"
            } else if status.st_uid != geteuid(), status.st_uid != owner(besides: path) {
                "belongs to another user"
            } else {
                nil
            }
        guard let fault else { return number }
        close(number)
        throw SessionError(
            .cannotCreateFile, "\(path) \(fault)",
            advice: isRegular
                ? "remove it, or name another file" : "name a file; content can be streamed to anything else")
    }

    /// The owner of what this process makes there: file systems without owners, or remote ones, know one.
    private static func owner(besides path: String) -> uid_t? {
        let probe = "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        let number = open(probe, O_WRONLY | O_CREAT | O_EXCL | flags, 0o600)
        guard number >= 0 else { return nil }
        let file = OwnedDescriptor(adopting: number)
        unlink(probe)
        var status = stat()
        return fstat(file.number, &status) == 0 ? status.st_uid : nil
    }
}
