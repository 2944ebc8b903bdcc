// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// The damaged databases that lie beside one that has taken their place, numbered as they came, each with the contents that nobody else has.
package struct DamagedCopies: Sendable {
    /// So many are kept: a disk that fails makes one after the other, and each may be as large as what it was.
    package static let limit = 3
    private let folder: String
    private let prefix: String

    /// - Parameter path: how the paths of all begin, before `.damaged-` and their number.
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

    /// Where the next one is moved; the same until the database itself is there.
    package var next: String { path((numbers.last ?? 0) + 1) }

    /// The folder of the contents of one.
    package static func bodies(_ path: String) -> String { path + ".bodies" }

    /// Removes all but the newest.
    package func trim() {
        for number in numbers.dropLast(Self.limit) {
            let path = path(number)
            // A link in its place is no folder of this outbox's, and stays.
            if let bodies = FolderHandle(Self.bodies(path)) {
                for name in bodies.names { bodies.remove(name) }
                rmdir(Self.bodies(path))
            }
            for suffix in DatabaseFile.companions { unlink(path + suffix) }
            // The last: by it the others are found.
            unlink(path)
        }
    }
}
