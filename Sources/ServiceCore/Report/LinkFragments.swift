// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// The JSON of the links as they were last printed: most changes leave most links as they are, and comparing a report is
/// quicker than writing it.
package struct LinkFragments: Sendable {
    private struct Fragment: Sendable {
        var report: LinkReport
        var bytes: [UInt8]
    }

    // Of a machine with thousands of links the memory counts for more.
    private static let limit = 16

    private var fragments: [Fragment] = []

    package init() {}

    /// Appends the JSON of `report`, which is the `position`th link of its line; `write` writes it where it has changed.
    package mutating func append(
        _ report: LinkReport, at position: Int, to line: inout TextLine,
        _ write: (LinkReport, inout TextLine) -> Void
    ) {
        if position < fragments.count, fragments[position].report == report {
            fragments[position].bytes.withUnsafeBufferPointer { line.append(bytes: $0) }
            return
        }
        let start = line.count
        write(report, &line)
        guard position < Self.limit else { return }
        let fragment = Fragment(report: report, bytes: line.bytes(from: start))
        if position < fragments.count { fragments[position] = fragment } else { fragments.append(fragment) }
    }
}
