// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import SessionManager

/// The destination of the content of `reach get`.
enum GetTarget: Sendable {
    /// Written directly: standard output, a device, a pipe.
    case stream(StandardStream, name: String?)
    /// A file that is replaced when the content is complete.
    case file(GetFiles)

    /// The destination of this name, opened unless it is a regular file; prints a failure and throws.
    init(file name: String, isChecked: Bool = false) throws(ExitCode) {
        var path = name
        var status = stat()
        let isLink = lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
        if isLink, Self.isStrangers(path, status) {
            complain("\(name) is a link that another user has put there; name another file, or remove it")
            throw .inputOutput
        }
        if isLink, let real = realpath(path, nil) {
            // The file behind a link is replaced, not the link.
            path = String(cString: real)
            free(real)
            _ = lstat(path, &status)
        } else if lstat(path, &status) != 0 {
            self = .file(GetFiles(path, isChecked: isChecked))
            return
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFLNK: self = .file(GetFiles(path, isChecked: isChecked))
        case S_IFDIR:
            complain("\(name) is a directory; name a file in it")
            throw .inputOutput
        default:
            let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
            guard descriptor >= 0 else {
                complain("\(name): \(String(cString: strerror(errno)))")
                throw .inputOutput
            }
            self = .stream(StandardStream(descriptor: descriptor), name: name)
        }
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
