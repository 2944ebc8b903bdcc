// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
import SessionCore

/// Moves a finished file to its destination without ever leaving half a file there.
enum FileMove {
    /// Why it cannot be moved; nil where it was.
    static func move(_ source: String, to destination: DownloadDestination) -> SessionError? {
        do throws(SessionError) {
            try perform(source, destination)
            return nil
        } catch {
            return error
        }
    }

    /// Why a file cannot be put there, as far as it can be known before; nil if nothing hinders it.
    static func obstacle(to destination: DownloadDestination) -> SessionError? {
        let path = destination.path
        if let error = occupied(destination) { return error }
        guard !destination.createsDirectories else { return nil }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        return access("\(folder).", W_OK | X_OK) == 0 ? nil : FileFailure.cannotPutFile(path, errno)
    }

    /// Why the path cannot get a file: another one that is to stay, or something that is no file, as a device
    /// that root could rename a file over.
    private static func occupied(_ destination: DownloadDestination) -> SessionError? {
        let path = destination.path
        if let fault = FileFailure.fault(ofPath: path) { return fault }
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        guard destination.replacesExisting else { return FileFailure.cannotPutFile(path, EEXIST) }
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFLNK: return nil
        case S_IFDIR: return FileFailure.cannotPutFile(path, EISDIR)
        default:
            return SessionError(
                .cannotMoveFile, "cannot put a file at \(path): it is a device, a pipe or a socket",
                advice: "name a file; content can be streamed to anything else")
        }
    }

    private static func perform(_ source: String, _ destination: DownloadDestination) throws(SessionError) {
        let path = destination.path
        if let error = occupied(destination) { throw error }
        if destination.createsDirectories { try createDirectories(for: path) }
        let rights = destination.replacesExisting ? FileRights(of: path) : nil
        give(rights, to: source)
        var failure = rename(source, path, replaces: destination.replacesExisting)
        if failure == EXDEV {
            // Another file system: copied beside the destination, then renamed there.
            let copy = "\(path).part-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
            try FileCopy.copy(source, to: copy, mode: rights == nil ? 0o666 : FileRights.whileWritten)
            give(rights, to: copy)
            failure = rename(copy, path, replaces: destination.replacesExisting)
            if failure != 0 { _ = unlink(copy) } else { _ = unlink(source) }
        }
        if failure != 0 { throw FileFailure.cannotMove(source, to: path, failure) }
    }

    private static func give(_ rights: FileRights?, to path: String) {
        guard let rights else { return }
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard number >= 0 else { return }
        rights.give(to: number)
        close(number)
    }

    /// The errno(3), or 0.
    private static func rename(_ source: String, _ path: String, replaces: Bool) -> Int32 {
        if replaces { return Glibc.rename(source, path) == 0 ? 0 : errno }
        let failure = clinux_rename_new(source, path) == 0 ? 0 : errno
        guard failure == EINVAL || failure == ENOSYS else { return failure }
        // A file system without RENAME_NOREPLACE: a hard link refuses an existing name as well.
        guard link(source, path) == 0 else { return errno }
        _ = unlink(source)
        return 0
    }

    private static func createDirectories(for path: String) throws(SessionError) {
        var index = path.startIndex
        while let slash = path[index...].dropFirst().firstIndex(of: "/") {
            let directory = String(path[..<slash])
            if mkdir(directory, 0o777) != 0, errno != EEXIST {
                throw FileFailure.cannotCreate(directory, errno)
            }
            index = slash
        }
    }
}

/// The thread for calls that may block on a slow card or a network file system: fsync(2), rename(2), copies.
///
/// Neither the loop nor Swift's pool of threads may wait for these. One thread for all, in order.
package enum FileThread {
    private static let reactor = try? Reactor(name: "reach-files")

    /// Does the work there and returns its result; here, where no thread can be started.
    package static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        guard let reactor else { return work() }
        return await withCheckedContinuation { continuation in
            reactor.perform { continuation.resume(returning: work()) }
        }
    }
}
