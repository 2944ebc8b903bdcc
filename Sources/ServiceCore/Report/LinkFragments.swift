// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// The JSON of the links as last printed: most changes leave most links unchanged, and comparing is faster
/// than writing.
///
/// One text for all of them, so that neighbours that have not changed are copied together.
package struct LinkFragments: Sendable {
    // 320 bytes for each link; with more links the memory would cost more than the time.
    private static let limit = 1_024

    private var reports: [LinkReport] = []
    /// What was printed of the internet behind each link; empty without a probe.
    private var internet: [LinkInternet] = []
    /// The JSON of the links, each but the first after a comma, and where it ends.
    private var text: [UInt8] = []
    private var ends: [Int] = []
    /// Where the text of the last line is that has not been kept.
    private var unkept: Range<Int>?

    package init() {}

    /// Appends the JSON of the links of `report` to a line; `write` writes a link that has changed.
    ///
    /// The next line knows these links if ``keepText(of:)`` follows.
    package mutating func append(
        linksOf report: Report, to line: inout TextLine,
        _ write: (LinkReport, LinkInternet, inout TextLine) -> Void
    ) {
        let isProbed = report.internet != nil
        // What was kept without a probe has nothing to compare with.
        if isProbed == internet.isEmpty || unkept != nil { self = LinkFragments() }
        let start = line.count
        // The text of unchanged links that is not appended yet.
        var pending = 0..<0
        var isChanged = ends.count > report.links.count
        for position in report.links.indices {
            let end = position < ends.count ? ends[position] : text.count
            if position < ends.count, reports[position] == report.links[position],
                !isProbed || internet[position] == report.internet(of: report.links[position])
            {
                pending = pending.lowerBound..<end
            } else {
                let link = report.links[position]
                let found = report.internet(of: link)
                append(pending, to: &line)
                pending = end..<end
                isChanged = true
                if position > 0 { line.append(literal: ",") }
                write(link, found, &line)
                if position < Self.limit { remember(link, isProbed ? found : nil, at: position) }
            }
            if isChanged, position < Self.limit { ends[position] = line.count - start + pending.count }
        }
        append(pending, to: &line)
        guard isChanged else { return }
        forgetLinks(beyond: report.links.count)
        unkept = start..<start + (ends.last ?? 0)
    }

    /// Stores the text of the last line's links; apart from `append`, so that the line can be printed first.
    ///
    /// - Parameter line: The line of the last `append`.
    package mutating func keepText(of line: borrowing TextLine) {
        guard let range = unkept, range.upperBound <= line.count else { return }
        unkept = nil
        text.removeAll(keepingCapacity: true)
        line.withBytes { text.append(contentsOf: $0[range]) }
    }

    private func append(_ range: Range<Int>, to line: inout TextLine) {
        guard !range.isEmpty else { return }
        text.withUnsafeBufferPointer { line.append(bytes: UnsafeBufferPointer(rebasing: $0[range])) }
    }

    private mutating func remember(_ link: LinkReport, _ found: LinkInternet?, at position: Int) {
        if position < reports.count {
            reports[position] = link
            if let found { internet[position] = found }
        } else {
            reports.append(link)
            ends.append(0)
            if let found { internet.append(found) }
        }
    }

    private mutating func forgetLinks(beyond count: Int) {
        guard reports.count > count else { return }
        reports.removeSubrange(count...)
        ends.removeSubrange(count...)
        if !internet.isEmpty { internet.removeSubrange(count...) }
    }
}
