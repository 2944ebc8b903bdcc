// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import FoundationEssentials
import Glibc
import SessionCore

/// Copies a file to a new one on another file system, wholly or not at all.
package enum FileCopy {
    /// Who moves the bytes, the cheapest first; what one cannot do, the next can.
    package enum Way: Int, CaseIterable, Sendable {
        /// copy_file_range(2): within one kind of file system, perhaps without moving anything.
        case range
        /// sendfile(2): by the kernel.
        case send
        /// read(2) and write(2).
        case readAndWrite

        fileprivate var next: Way? { Way(rawValue: rawValue + 1) }
    }

    /// At a time, in bytes.
    private static let piece = 1 << 24

    /// Makes the file at `path`, which must not exist, and has it on the disk when this returns.
    ///
    /// - Throws: where not every byte could be read and written; `path` is as before then.
    package static func copy(
        _ source: String, to path: String, by first: Way = .range, mode: UInt32 = 0o666
    ) throws(SessionError) {
        let input = open(source, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw FileFailure.cannotRead(source, errno) }
        let from = OwnedDescriptor(adopting: input)
        let size = lseek(from.number, 0, SEEK_END)
        guard size >= 0, lseek(from.number, 0, SEEK_SET) == 0 else {
            throw FileFailure.cannotRead(source, errno)
        }
        let output = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard output >= 0 else { throw FileFailure.cannotCreate(path, errno) }
        let to = OwnedDescriptor(adopting: output)
        do throws(SessionError) {
            try copy(from.number, source, to.number, path, size: Int64(size), first)
            guard fsync(to.number) == 0 else { throw FileFailure.cannotWrite(path, errno) }
        } catch {
            _ = unlink(path)
            throw error
        }
    }

    private static func copy(
        _ from: Int32, _ source: String, _ to: Int32, _ path: String, size: Int64, _ first: Way
    ) throws(SessionError) {
        var way = first
        var copied: Int64 = 0
        // No more than the size at the start: another process may still be writing to the file.
        while copied < size {
            let wanted = Int(min(size - copied, Int64(piece)))
            let (count, failure) =
                switch way {
                case .range: result(clinux_copy_range(from, to, wanted))
                case .send: result(sendfile(to, from, nil, wanted))
                case .readAndWrite: try passOn(from, source, to, path, wanted)
                }
            if count > 0 {
                copied += Int64(count)
                continue
            }
            if failure == EINTR { continue }
            // Some file systems answer what they cannot do with an error, some with 0 (copy_file_range(2)).
            guard failure == 0 || cannotDo(failure) else { throw FileFailure.cannotWrite(path, failure) }
            guard let next = way.next else {
                throw SessionError(
                    .cannotMoveFile, "\(source) has \(copied) of \(size) bytes",
                    advice: "see who else writes to it")
            }
            way = next
        }
    }

    private static func result(_ count: Int) -> (count: Int, failure: Int32) {
        count < 0 ? (0, errno) : (count, 0)
    }

    private static func cannotDo(_ failure: Int32) -> Bool {
        failure == EXDEV || failure == EINVAL || failure == ENOSYS || failure == EOPNOTSUPP
    }

    /// Reads a piece and writes all of it.
    private static func passOn(
        _ from: Int32, _ source: String, _ to: Int32, _ path: String, _ wanted: Int
    ) throws(SessionError) -> (count: Int, failure: Int32) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(wanted, 64 << 10), alignment: 16)
        defer { buffer.deallocate() }
        let count = read(from, buffer.baseAddress, buffer.count)
        if count < 0, errno == EINTR { return (0, EINTR) }
        guard count >= 0 else { throw FileFailure.cannotRead(source, errno) }
        var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        while !rest.isEmpty {
            let written = write(to, rest.baseAddress, rest.count)
            if written > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            } else if errno != EINTR {
                throw FileFailure.cannotWrite(path, errno)
            }
        }
        return (count, 0)
    }
}
