// SPDX-License-Identifier: Apache-2.0

internal import CLinux
import Glibc

/// Reads the small files of the system and of the programs that configure its links.
package struct SystemFiles: Sendable {
    /// Where the files are: empty for `/`; a folder in a test.
    private let root: String

    package init(root: String = "") { self.root = root }

    /// The lines at the beginning of a regular file, or of the one that a symbolic link leads to; none where
    /// it cannot be read.
    ///
    /// For files of the administrator: `/etc/resolv.conf` may be a link to systemd-resolved's file.
    package func lines(_ path: String) -> [String] {
        guard let (file, _) = open(path) else { return [] }
        defer { close(file) }
        return String(decoding: content(file, LeaseFile.limit), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    /// The content of a file that another program writes, and when that was, in nanoseconds since 1970.
    ///
    /// It counts only if it is not empty, no longer than ``LeaseFile/limit``, no symbolic link, of its
    /// folder's owner or root, and not open to writing by others.
    ///
    /// - Returns: `isTrusted` is whether it is root's or this process's own, whatever the folder's owner.
    package func written(
        _ folder: String, _ name: String
    ) -> (bytes: [UInt8], time: Int64, isTrusted: Bool)? {
        guard let (file, state) = open("\(folder)/\(name)", O_NOFOLLOW) else { return nil }
        defer { close(file) }
        var parent = stat()
        guard stat(root + folder, &parent) == 0, state.st_mode & 0o022 == 0,
            state.st_uid == 0 || state.st_uid == parent.st_uid,
            (1...LeaseFile.limit).contains(Int(state.st_size))
        else { return nil }
        let time = FileStamp.nanoseconds(state.st_mtim)
        let isTrusted = state.st_uid == 0 || state.st_uid == geteuid()
        return (content(file, Int(state.st_size)), time, isTrusted)
    }

    /// When a file or a folder changed last; nil where it is not there.
    func stamp(_ path: String) -> FileStamp? {
        var state = stat()
        return stat(root + path, &state) == 0 ? FileStamp(state) : nil
    }

    /// The names in a folder; none where it cannot be read.
    package func names(in folder: String) -> [String] { DeviceProbe.entries(of: root + folder) }

    private func open(_ path: String, _ flags: Int32 = 0) -> (file: Int32, state: stat)? {
        // A pipe or a device in its place must not block.
        let file = Glibc.open(root + path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)
        guard file >= 0 else { return nil }
        var state = stat()
        if fstat(file, &state) == 0, state.st_mode & S_IFMT == S_IFREG { return (file, state) }
        close(file)
        return nil
    }

    private func content(_ file: Int32, _ limit: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = max(0, read(file, buffer.baseAddress, limit))
        }
    }
}
