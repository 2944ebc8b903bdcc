// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
import SessionCore

/// Writes the content to a file of its own, which is moved to its destination when it is complete.
final class FileSink: ContentSink {
    /// Where the content lies until then.
    let path: String
    private var descriptor: OwnedDescriptor?
    private let limit: Int64?
    private var written: Int64 = 0
    /// The file is not removed: before it is known to be this download's own, and after it was handed over.
    private var isKept = true

    /// The file named, emptied, or a new one in the directory for temporary files (`TMPDIR`, else /tmp).
    ///
    /// - Parameter locks: whether a file that is named is locked; no where the caller holds its lock.
    init(path wanted: String?, limit: Int64?, locks: Bool) throws(SessionError) {
        self.limit = limit
        if let wanted {
            path = wanted
            // Emptied only once it is known to be a file: a device or a pipe would be removed at the end.
            let number = try Self.opened(wanted, locks) { () throws(SessionError) in
                try OwnFile.make(wanted)
            }
            descriptor = OwnedDescriptor(adopting: number)
            guard ftruncate(number, 0) == 0 else { throw FileFailure.cannotWrite(wanted, errno) }
            isKept = false
            return
        }
        let directory = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        // Not mkstemp(3): the file may stay, so it gets the rights that this process gives its files.
        path = "\(directory)/reach-download-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard number >= 0 else { throw FileFailure.cannotCreate(path, errno) }
        descriptor = OwnedDescriptor(adopting: number)
        isKept = false
    }

    /// The file that an earlier download has left, from the byte on which its record names.
    init(continuing record: ResumeRecord, limit: Int64?, locks: Bool) throws(SessionError) {
        let path = record.partialFile
        self.path = path
        self.limit = limit
        written = record.receivedBytes
        let number = try Self.opened(path, locks) { () throws(SessionError) in
            try OwnFile.existing(path, O_WRONLY)
        }
        descriptor = OwnedDescriptor(adopting: number)
        var status = stat()
        guard fstat(number, &status) == 0, Int64(status.st_size) >= record.receivedBytes,
            // What was written after the record is not vouched for.
            ftruncate(number, off_t(record.receivedBytes)) == 0, lseek(number, 0, SEEK_END) >= 0
        else {
            throw SessionError(
                .badResumeRecord, "\(path) has less than the \(record.receivedBytes) bytes of its record",
                advice: "download from the beginning")
        }
    }

    /// Opens a file, locked against other tasks and processes: what two write into it belongs to neither.
    private static func opened(
        _ path: String, _ locks: Bool, _ open: () throws(SessionError) -> Int32
    ) throws(SessionError) -> Int32 {
        guard locks else { return try open() }
        guard let number = try OwnFile.locked(path, open) else {
            throw SessionError(
                .cannotCreateFile, "another task or process is writing \(path)",
                advice: "wait until it has ended, cancel it, or name another file")
        }
        return number
    }

    deinit { discard() }

    /// Begins anew in the same file, which stays locked; false where it was closed, or is at its path no
    /// longer.
    func empty() throws(SessionError) -> Bool {
        guard let number = descriptor?.number, OwnFile.isOpen(number, at: path) else { return false }
        guard ftruncate(number, 0) == 0, lseek(number, 0, SEEK_SET) == 0 else {
            throw FileFailure.cannotWrite(path, errno)
        }
        written = 0
        isKept = false
        return true
    }

    func begin(length: Int64?) throws(SessionError) {
        if let length, let limit, length > limit { throw tooLong(limit) }
    }

    func consume(_ bytes: UnsafeRawBufferPointer) throws(SessionError) -> SinkAnswer {
        if let limit, written + Int64(bytes.count) > limit { throw tooLong(limit) }
        guard let number = descriptor?.number else { return .consumed }
        var rest = bytes
        while !rest.isEmpty {
            let count = write(number, rest.baseAddress, rest.count)
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno != EINTR {
                throw FileFailure.cannotWrite(path, errno)
            }
        }
        written += Int64(bytes.count)
        return .consumed
    }

    /// The bytes in the file.
    var count: Int64 { written }

    /// Nothing more is written; the descriptor is given away, for ``flush(_:_:isSynced:)`` and
    /// ``close(_:)``.
    func release() -> Int32? { descriptor.take()?.release() }

    /// Another descriptor of the file, for what outlasts this object; nil where there is none left.
    func duplicate() -> Int32? {
        guard let number = descriptor?.number else { return nil }
        let other = fcntl(number, F_DUPFD_CLOEXEC, 0)
        return other >= 0 ? other : nil
    }

    /// Has all that was written on its way to the disk, or on it if wanted; takes as long as the disk does.
    static func flush(_ number: Int32, _ path: String, isSynced: Bool) -> SessionError? {
        if isSynced, fsync(number) != 0, errno != EINVAL { return FileFailure.cannotWrite(path, errno) }
        // Some file systems report a full disk only when a descriptor is closed; this one keeps the lock.
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0, Glibc.close(copy) != 0, errno != EINTR else { return nil }
        return FileFailure.cannotWrite(path, errno)
    }

    /// Closes a file and ends its lock, which copies of the descriptor would hold.
    static func close(_ number: Int32) {
        _ = flock(number, LOCK_UN)
        _ = Glibc.close(number)
    }

    /// Leaves the file alone from now on.
    func keep() {
        isKept = true
        if let number = release() { Self.close(number) }
    }

    /// Removes what has been written, unless it is kept.
    func discard() {
        if isKept { keep() } else { remove() }
    }

    /// Removes the file, also one that an earlier download has made: its content is wrong.
    func remove() {
        // Before its lock ends: afterwards it may be another's.
        _ = unlink(path)
        keep()
    }

    private func tooLong(_ limit: Int64) -> SessionError {
        SessionError(
            .dataLengthExceedsMaximum, "the response has more than \(limit) bytes", remedy: .moreContent)
    }
}
