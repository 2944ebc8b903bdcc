// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import Reachability
import SessionManager

/// The destination of the content of `reach get`.
enum GetTarget: Sendable {
    /// Written directly: standard output, a device, a pipe.
    case stream(StandardStream, name: String?)
    /// A file that is replaced when the content is complete.
    case file(GetFiles)

    /// The destination of this name, opened unless it is a regular file; prints a failure and throws.
    ///
    /// - Parameter limit: when waiting for a pipe's reader is given up; nil for never.
    init(
        file name: String, isChecked: Bool = false, hasMirrors: Bool = false,
        until limit: MonotonicInstant? = nil
    ) throws(ExitCode) {
        var path = name
        var status = stat()
        // The file behind a link is replaced, not the link; it need not exist yet.
        for _ in 0..<Self.mostLinks {
            guard lstat(path, &status) == 0 else {
                self = .file(GetFiles(path, isChecked: isChecked, hasMirrors: hasMirrors))
                return
            }
            guard status.st_mode & S_IFMT == S_IFLNK else { break }
            if Self.isStrangers(path, status) {
                complain("\(name) is a link that another user has put there; name another file, or remove it")
                throw .inputOutput
            }
            if let stream = Self.standardStream(path) {
                self = .stream(stream, name: stream.descriptor == STDOUT_FILENO ? nil : name)
                return
            }
            guard let next = Self.target(of: path) else { break }
            path = next
        }
        if path != name, let real = realpath(path, nil) {
            path = String(cString: real)
            free(real)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: self = .file(GetFiles(path, isChecked: isChecked, hasMirrors: hasMirrors))
        case S_IFDIR:
            complain("\(name) is a directory; name a file in it")
            throw .inputOutput
        default:
            // A link here is one of too many (ELOOP), or one of /proc that only the kernel can follow.
            let descriptor = try ReadinessWait.openForWriting(path, until: limit, orExit: .inputOutput)
            self = .stream(StandardStream(descriptor: descriptor), name: name)
        }
    }

    /// As many as the kernel follows (path_resolution(7)).
    private static let mostLinks = 40

    /// Standard output or error, where a link leads there: `/dev/stdout`, which may be a pipe or a socket
    /// that has no name, or a file that others append to.
    private static func standardStream(_ link: String) -> StandardStream? {
        var end = stat()
        guard stat(link, &end) == 0 else { return nil }
        return [.output, .error].first { (stream: StandardStream) in
            var status = stat()
            return fstat(stream.descriptor, &status) == 0 && status.st_dev == end.st_dev
                && status.st_ino == end.st_ino
        }
    }

    /// Where a link leads, by one step; nil for those of /proc whose text is no path (proc_pid_fd(5)).
    private static func target(of link: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        let text = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let folder = text.hasPrefix("/") ? "" : link.lastIndex(of: "/").map { String(link[...$0]) } ?? ""
        var (end, next) = (stat(), stat())
        let exists = stat(link, &end) == 0
        let isSame = stat(folder + text, &next) == 0 && next.st_dev == end.st_dev && next.st_ino == end.st_ino
        return exists == isSame ? folder + text : nil
    }

    /// Whether another user has put a link into a world-writable folder, to have its target replaced with
    /// this user's rights; the kernel does not follow such links (protected_symlinks, proc_sys_fs(5)).
    private static func isStrangers(_ link: String, _ status: stat) -> Bool {
        let end = link.lastIndex(of: "/")
        var folder = stat()
        guard stat(end.map { String(link[...$0]) } ?? ".", &folder) == 0 else { return true }
        let isShared = folder.st_mode & 0o1002 == 0o1002
        return isShared && status.st_uid != geteuid() && status.st_uid != folder.st_uid
    }

    /// Whether the content goes to standard output.
    var isStandardOutput: Bool { if case .stream(_, nil) = self { true } else { false } }
}
