// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Texts that are compared with files below `Golden`.
///
/// With REACH_UPDATE_GOLDEN=1 in the environment the files are rewritten; review the difference before a
/// commit.
enum Golden {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Golden")

    /// Compares `text` with the file `name`.
    static func check(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        let file = folder.appendingPathComponent(name)
        if ProcessInfo.processInfo.environment["REACH_UPDATE_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: file)
            return
        }
        guard let expected = try? String(contentsOf: file, encoding: .utf8) else {
            Issue.record(
                "there is no Golden/\(name); run with REACH_UPDATE_GOLDEN=1 to make it",
                sourceLocation: sourceLocation)
            return
        }
        guard text != expected else { return }
        let (lines, wanted) = (
            text.split(separator: "\n", omittingEmptySubsequences: false),
            expected.split(separator: "\n", omittingEmptySubsequences: false)
        )
        let first =
            zip(lines, wanted).enumerated().first { $0.element.0 != $0.element.1 }?.offset
            ?? min(lines.count, wanted.count)
        Issue.record(
            """
            Golden/\(name) differs from line \(first + 1) on:
            expected: \(wanted.indices.contains(first) ? String(wanted[first]) : "(end)")
            found:    \(lines.indices.contains(first) ? String(lines[first]) : "(end)")
            """, sourceLocation: sourceLocation)
    }
}
