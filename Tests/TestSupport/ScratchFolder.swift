// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// A folder below ``TemporaryFolder`` that goes with the last who holds it.
package final class ScratchFolder: Sendable {
    package let path: String

    package init(_ name: String = "reach-test") throws {
        var template = Array("\(TemporaryFolder.path)/\(name)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw LabError("mkdtemp in \(TemporaryFolder.path)", errno: errno)
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// What a test has left at work may remove and make files meanwhile, at each of which a removal ends.
    deinit {
        var status = stat()
        for _ in 0..<1_000 where lstat(path, &status) == 0 {
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// The path of something in it.
    package func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// What is in it, sorted.
    package var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }
}
