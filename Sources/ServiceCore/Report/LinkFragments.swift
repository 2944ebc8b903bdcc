// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// The JSON of the links as last printed: most changes leave most links unchanged, and comparing is faster
/// than writing.
///
/// One text for all of them, so that neighbours that have not changed are copied together.
package struct LinkFragments: Sendable {
    private static let lengthOfLink = 320
    // With more links the memory would cost more than the time.
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
        line.reserve(report.links.count * Self.lengthOfLink)
        let start = line.count
        var isChanged = ends.count > report.links.count
        // The next link, and where its text begins in the line before.
        var (position, offset) = (0, 0)
        while position < report.links.count {
            let run = position..<endOfUnchanged(from: position, in: report)
            if let last = run.last {
                let text = offset..<ends[last]
                if isChanged {
                    let shift = line.count - start - offset
                    for position in run { ends[position] += shift }
                }
                append(text, to: &line)
                (position, offset) = (run.upperBound, text.upperBound)
                continue
            }
            if position < ends.count { offset = ends[position] }
            isChanged = true
            let link = report.links[position]
            let found = report.internet(of: link)
            if position > 0 { line.append(literal: ",") }
            write(link, found, &line)
            if position < Self.limit {
                remember(link, isProbed ? found : nil, at: position)
                ends[position] = line.count - start
            }
            position += 1
        }
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

    /// The first position from `start` whose link is another one than in the line before.
    private func endOfUnchanged(from start: Int, in report: Report) -> Int {
        let end = LinkReport.firstDifference(reports, report.links, from: start)
        if internet.isEmpty { return end }
        return (start..<end).first { internet[$0] != report.internet(of: report.links[$0]) } ?? end
    }

    private func append(_ range: Range<Int>, to line: inout TextLine) {
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
