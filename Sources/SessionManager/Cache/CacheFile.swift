// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import FoundationEssentials
import Glibc
import SessionCore

/// A stored response as a file of its own, which is there completely or not at all.
///
/// Nothing is forced to the disk: what a loss of power leaves behind fails its checksum, and is a miss.
struct CacheFile: Sendable {
    /// write(2), to be replaced in tests; sets errno(3).
    typealias Write = @Sendable (Int32, UnsafeRawBufferPointer) -> Int

    let path: String
    let write: Write

    /// The entry, the content and the size of the file; nil for none, or a damaged one, which is removed.
    func read() -> (stored: StoredResponse, size: Int64)? {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { return nil }
        let file = OwnedDescriptor(adopting: number)
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let stored = read(file.number, size: Int64(status.st_size))
        else {
            remove()
            return nil
        }
        Self.markUsed(file.number)
        return (stored, Int64(status.st_size))
    }

    /// Records the last use for later processes, to the nanosecond: the kernel's own times step by 10 ms.
    private static func markUsed(_ number: Int32) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        _ = futimens(number, [now, now])
    }

    private func read(_ number: Int32, size: Int64) -> StoredResponse? {
        guard let prefix = bytes(number, at: 0, CacheRecord.prefixLength),
            let length = CacheRecord.headLength(prefix), length <= size,
            let head = bytes(number, at: 0, length), let (entry, checksum) = CacheRecord.read(head),
            entry.contentLength == size - Int64(length), let count = Int(exactly: entry.contentLength),
            let content = bytes(number, at: Int64(length), count), CRC32.of(content) == checksum
        else { return nil }
        return StoredResponse(entry: entry, data: content)
    }

    private func bytes(_ number: Int32, at offset: Int64, _ count: Int) -> Data? {
        var data = Data(count: count)
        let isComplete = data.withUnsafeMutableBytes { buffer in
            var done = 0
            while done < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                let read = pread(number, rest.baseAddress, rest.count, off_t(offset + Int64(done)))
                if read > 0 { done += read } else if read == 0 || errno != EINTR { return false }
            }
            return true
        }
        return isComplete ? data : nil
    }

    /// Writes beside the file and puts it in its place; the size, or the errno(3).
    func replace(_ stored: StoredResponse, temporary: String) -> Result<Int64, CacheFileFailure> {
        let number = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { return .failure(CacheFileFailure(errno: errno)) }
        let file = OwnedDescriptor(adopting: number)
        let head = CacheRecord.head(stored.entry, contentChecksum: CRC32.of(stored.data))
        var failure = head.withUnsafeBytes { append($0, to: file.number) }
        if failure == 0 { failure = stored.data.withUnsafeBytes { append($0, to: file.number) } }
        Self.markUsed(file.number)
        if failure == 0, rename(temporary, path) != 0 { failure = errno }
        guard failure == 0 else {
            _ = unlink(temporary)
            return .failure(CacheFileFailure(errno: failure))
        }
        return .success(Int64(head.count + stored.data.count))
    }

    /// The errno(3), or 0.
    private func append(_ bytes: UnsafeRawBufferPointer, to number: Int32) -> Int32 {
        var rest = bytes
        while !rest.isEmpty {
            let count = write(number, rest)
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if count == 0 || errno != EINTR {
                return count == 0 ? EIO : errno
            }
        }
        return 0
    }

    func remove() { _ = unlink(path) }
}

/// Why a file could not be written.
struct CacheFileFailure: Error {
    let errno: Int32
}
