// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// A file that is replaced as a whole: readers see the old content or the new one, never a part.
///
/// Its readers are programs of this machine until the next restart, so nothing is synced.
package struct AtomicFile: Sendable {
    package let path: String
    private let temporary: String
    private let mode: mode_t

    /// - Parameter mode: the file's mode, regardless of the umask; readable for all users by default.
    package init(_ path: String, mode: mode_t = 0o644) {
        self.path = path
        self.mode = mode
        let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        // Collectors of files select by the end of the name, so the temporary name has another one.
        temporary = "\(path[..<slash]).\(path[slash...]).new"
    }

    /// Writes the content; returns the failure, or nil for success.
    package func write(_ bytes: [UInt8]) -> String? {
        // Removes an earlier process's leftover.
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { return failure("cannot be made") }
        defer { close(descriptor) }
        fchmod(descriptor, mode)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                defer { unlink(temporary) }
                return failure("cannot be written")
            }
        }
        guard rename(temporary, path) == 0 else {
            defer { unlink(temporary) }
            return failure("cannot be replaced")
        }
        return nil
    }

    package func remove() { unlink(path) }

    private func failure(_ what: String) -> String { "\(path) \(what): \(String(cString: strerror(errno)))" }
}
