// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// An open folder: its files are reached by its descriptor, so a link put in its place has no effect.
package struct FolderHandle: ~Copyable {
    package let number: Int32

    /// Opens a folder; nil with `errno` if it is missing, no folder, or a link.
    package init?(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        number = descriptor
    }

    deinit { close(number) }

    /// The names of all its entries.
    package var names: [String] {
        // A descriptor of its own: reading moves a position that duplicates share.
        let copy = openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return [] }
        guard let stream = fdopendir(copy) else {
            close(copy)
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a file.
    package func remove(_ name: String) {
        guard !name.contains("/") else { return }
        unlinkat(number, name, 0)
    }

    /// Renames a file, as rename(2).
    package func rename(_ name: String, to other: String) -> Int32 { renameat(number, name, number, other) }

    /// Whether a file is there.
    package func contains(_ name: String) -> Bool {
        var status = stat()
        return fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Syncs its names to the disk (fsync(2)); false with `errno` on failure.
    package func sync() -> Bool {
        // EINVAL: the file system does not support fsync of folders.
        fsync(number) == 0 || errno == EINVAL
    }
}
