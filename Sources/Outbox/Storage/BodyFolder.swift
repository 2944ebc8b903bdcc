// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import Storage

/// A content on the disk under a temporary name, locked by this process until its entry is stored.
final class StagedBody: Sendable {
    let name: String
    let size: Int64
    private let descriptor: OwnedDescriptor

    init(name: String, size: Int64, descriptor: consuming OwnedDescriptor) {
        self.name = name
        self.size = size
        self.descriptor = descriptor
    }

    /// A path to the content that is independent of its name (proc_pid_fd(5)).
    var link: String { "/proc/self/fd/\(descriptor.number)" }
}

/// The folder of the contents that are too large for the database.
///
/// A content is written under a temporary name, synced, and renamed in the transaction that stores its entry;
/// the folder is synced before the commit. The delivering process removes what interrupted ones have left.
struct BodyFolder: Sendable {
    let paths: OutboxPaths
    private static let passing = ".part"

    func stage(_ data: Data) throws(OutboxError) -> StagedBody {
        try stage(largest: .max) { (target) throws(OutboxError) in
            let written = data.withUnsafeBytes { bytes in write(target, bytes) }
            guard written else {
                throw OutboxError(DatabaseFile.failure("cannot write a content", paths.bodies))
            }
            return Int64(data.count)
        }
    }

    func stage(file path: String, largest: Int64) throws(OutboxError) -> StagedBody {
        let source = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else {
            throw OutboxError(
                .badRequest, "cannot read \(path): \(String(cString: strerror(errno)))",
                advice: "check the path and the permissions")
        }
        defer { close(source) }
        return try stage(largest: largest) { (target) throws(OutboxError) in
            var buffer = [UInt8](repeating: 0, count: 128 << 10)
            var size: Int64 = 0
            while true {
                let count = read(source, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else {
                    throw OutboxError(.badRequest, "cannot read \(path): \(String(cString: strerror(errno)))")
                }
                if count == 0 { return size }
                size += Int64(count)
                guard size <= largest else {
                    throw OutboxError(
                        .full, "\(path) is larger than \(largest) bytes, which the outbox takes")
                }
                guard
                    buffer.withUnsafeBytes({ write(target, UnsafeRawBufferPointer(rebasing: $0[..<count])) })
                else {
                    throw OutboxError(DatabaseFile.failure("cannot write a content", paths.bodies))
                }
            }
        }
    }

    private func stage(
        largest: Int64, _ fill: (Int32) throws(OutboxError) -> Int64
    ) throws(OutboxError) -> StagedBody {
        // The folders were removed in use; the request is stored behind its content.
        if paths.rights == nil, FileIdentity(paths.bodies).isMissing { try paths.make() }
        // A content would take the space that the removal of other entries needs.
        try paths.reserve.ensure()
        let passing = try makeFile()
        let (name, number) = (passing.name, passing.descriptor.number)
        do throws(OutboxError) {
            let size = try fill(number)
            guard fsync(number) == 0 else {
                throw OutboxError(DatabaseFile.failure("cannot sync a content", paths.bodies))
            }
            return StagedBody(name: name, size: size, descriptor: passing.descriptor)
        } catch {
            remove([name + Self.passing])
            throw error
        }
    }

    /// Makes a new locked file under a temporary name.
    private func makeFile() throws(OutboxError) -> PassingFile {
        while true {
            // Enough random bits to make equal names impossible.
            let name =
                String(UInt64.random(in: 0...UInt64.max), radix: 36)
                + String(UInt64.random(in: 0...UInt64.max), radix: 36)
            let path = paths.bodies + "/" + name + Self.passing
            let made: Int32
            do throws(StorageError) { made = try paths.rights.perform { make(name + Self.passing) } } catch {
                throw OutboxError(error)
            }
            guard made >= 0 else {
                throw OutboxError(DatabaseFile.failure("cannot make a file for a content", path))
            }
            let descriptor = OwnedDescriptor(adopting: made)
            while flock(made, LOCK_EX) != 0, errno == EINTR {}
            var status = stat()
            // A sweep between the two may have removed the file as abandoned.
            if fstat(made, &status) == 0, status.st_nlink > 0 {
                return PassingFile(name: name, descriptor: descriptor)
            }
        }
    }

    private func make(_ name: String) -> Int32 {
        guard let folder = FolderHandle(paths.bodies) else { return -1 }
        return openat(folder.number, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    }

    private func write(_ target: Int32, _ bytes: UnsafeRawBufferPointer) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = Glibc.write(target, bytes.baseAddress?.advanced(by: done), bytes.count - done)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return false }
            done += count
        }
        return true
    }

    /// Whether an outbox may have given a content this name: two numbers with 36 digits, and no path.
    static func isName(_ name: String) -> Bool {
        (1...40).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
    }

    /// Renames a content to its final name, in the transaction that stores its entry.
    func commit(_ body: StagedBody) throws(StorageError) {
        let folder = try open()
        guard folder.rename(body.name + Self.passing, to: body.name) != 0 else { return }
        // A repeated transaction finds it renamed already.
        guard errno == ENOENT, folder.contains(body.name) else {
            throw DatabaseFile.failure("cannot keep a content", paths.body(body.name))
        }
    }

    /// Syncs the names, before the transaction is committed.
    func sync() throws(StorageError) {
        guard try open().sync() else {
            throw DatabaseFile.failure("cannot sync the folder", paths.bodies)
        }
    }

    private func open() throws(StorageError) -> FolderHandle {
        guard let folder = FolderHandle(paths.bodies) else {
            throw DatabaseFile.failure("cannot open the folder", paths.bodies)
        }
        return folder
    }

    func discard(_ body: StagedBody) { remove([body.name + Self.passing, body.name]) }

    /// Removes contents; names that no outbox gives are ignored.
    func remove(_ names: [String]) {
        guard !names.isEmpty else { return }
        _ = try? paths.rights.perform {
            guard let folder = FolderHandle(paths.bodies) else { return }
            for name in names where Self.isName(name) || name.hasSuffix(Self.passing) { folder.remove(name) }
        }
    }

    /// The number of contents with their final names; nil if the folder cannot be read.
    var count: Int? { FolderHandle(paths.bodies)?.names.count { !$0.hasSuffix(Self.passing) } }

    /// Contents without an entry that no process is about to store; called with the gate held exclusively.
    func unclaimed(isKnown: (String) -> Bool) -> [String] {
        guard let folder = FolderHandle(paths.bodies) else { return [] }
        return folder.names.filter { name in
            !name.hasSuffix(Self.passing) && !isKnown(name) && !isLocked(name, folder)
        }
    }

    /// Links contents into another folder; an interrupted recovery leaves them at their old names too.
    func link(_ names: [String], into path: String) throws(StorageError) {
        guard !names.isEmpty else { return }
        guard PrivateFile.makeFolder(path) || errno == EEXIST, let target = FolderHandle(path) else {
            throw DatabaseFile.failure("cannot make the folder", path)
        }
        let folder = try open()
        for name in names where linkat(folder.number, name, target.number, name, 0) != 0 && errno != EEXIST {
            // Not every file system supports second names.
            guard renameat(folder.number, name, target.number, name) == 0 || errno == ENOENT else {
                throw DatabaseFile.failure("cannot keep a content", path)
            }
        }
        guard target.sync() else { throw DatabaseFile.failure("cannot sync the folder", path) }
    }

    /// Whether a process is about to store its entry.
    private func isLocked(_ name: String, _ folder: borrowing FolderHandle) -> Bool {
        let number = openat(folder.number, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { return false }
        defer { close(number) }
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else { return true }
        _ = flock(number, LOCK_UN)
        return false
    }

    /// Removes contents without an entry; called in a write transaction, which keeps others from storing one.
    func sweep(isKnown: (String) throws(StorageError) -> Bool) throws(StorageError) {
        let folder = try open()
        for name in folder.names {
            if name.hasSuffix(Self.passing) {
                let number = openat(folder.number, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                guard number >= 0 else { continue }
                // Locked until the name is gone, so that a process that is just making the file notices.
                if flock(number, LOCK_EX | LOCK_NB) == 0 { folder.remove(name) }
                close(number)
            } else if try !isKnown(name) {
                folder.remove(name)
            }
        }
    }
}

/// A content that is being written.
private struct PassingFile: ~Copyable {
    let name: String
    let descriptor: OwnedDescriptor
}
