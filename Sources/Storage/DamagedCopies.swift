// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// The damaged databases beside the one that replaced them, numbered, with the contents only they refer to.
package struct DamagedCopies: Sendable {
    /// The most that are stored: a failing disk makes one after the other, each as large as the original.
    package static let limit = 3
    private let folder: String
    private let prefix: String

    /// - Parameter path: the common start of all paths, before `.damaged-` and the number.
    package init(of path: String) {
        folder = PrivateFile.folder(of: path)
        prefix = path.split(separator: "/").last.map { $0 + ".damaged-" } ?? ".damaged-"
    }

    /// The oldest first.
    private var numbers: [Int] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { $0.hasPrefix(prefix) ? Int($0.dropFirst(prefix.count)) : nil }.sorted()
    }

    private func path(_ number: Int) -> String { "\(folder)/\(prefix)\(number)" }

    /// The path for the next one; unchanged until a database is there.
    package var next: String { path((numbers.last ?? 0) + 1) }

    /// The folder of one's contents.
    package static func bodies(_ path: String) -> String { path + ".bodies" }

    /// Removes all but the newest.
    package func trim() {
        for number in numbers.dropLast(Self.limit) {
            let path = path(number)
            // A link at this path is not the outbox's folder, and stays.
            if let bodies = FolderHandle(Self.bodies(path)) {
                for name in bodies.names { bodies.remove(name) }
                rmdir(Self.bodies(path))
            }
            for suffix in DatabaseFile.companions { unlink(path + suffix) }
            // Removed last, since the other files are found by its name.
            unlink(path)
        }
    }
}
