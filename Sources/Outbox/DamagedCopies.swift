// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Storage

/// The damaged databases that lie beside an outbox, numbered as they came, each with the contents that nobody else has.
struct DamagedCopies {
    /// So many are kept: a disk that fails makes one after the other, and each may be as large as the outbox.
    static let limit = 3
    private static let name = "outbox.damaged-"
    private let folder: String

    init(in folder: String) { self.folder = folder }

    /// The oldest first.
    private var numbers: [Int] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { $0.hasPrefix(Self.name) ? Int($0.dropFirst(Self.name.count)) : nil }
            .sorted()
    }

    private func path(_ number: Int) -> String { "\(folder)/\(Self.name)\(number)" }

    /// Where the next one is moved; the same until the database itself is there.
    var next: String { path((numbers.last ?? 0) + 1) }

    /// The folder of the contents of one.
    static func bodies(_ path: String) -> String { path + ".bodies" }

    /// Removes all but the newest.
    func trim() {
        for number in numbers.dropLast(Self.limit) {
            let path = path(number)
            let bodies = Self.bodies(path)
            for name in (try? FileManager.default.contentsOfDirectory(atPath: bodies)) ?? [] {
                unlink(bodies + "/" + name)
            }
            rmdir(bodies)
            for suffix in DatabaseFile.companions { unlink(path + suffix) }
            // The last: by it the others are found.
            unlink(path)
        }
    }
}
