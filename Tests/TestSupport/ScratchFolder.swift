// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// A folder below ``TemporaryFolder`` that is removed with its last reference.
package final class ScratchFolder: Sendable {
    package let path: String

    package init(_ name: String = "reach-test") throws {
        var template = Array("\(TemporaryFolder.path)/\(name)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw LabError("mkdtemp in \(TemporaryFolder.path)", errno: errno)
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Threads that a test left running may change files meanwhile, each of which ends a removal, so it is
    /// repeated.
    deinit {
        var status = stat()
        for _ in 0..<1_000 where lstat(path, &status) == 0 {
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// The path of an entry in it.
    package func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// The names of its entries, sorted.
    package var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }
}
