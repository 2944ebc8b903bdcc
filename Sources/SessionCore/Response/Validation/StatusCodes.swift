// SPDX-License-Identifier: Apache-2.0

/// A set of HTTP status codes.
///
/// Written as `.successful`, `[200...299, 304...304]` or `StatusCodes(200..<300)`; in files as `["200-299"]`.
public struct StatusCodes: Sendable, Equatable, ExpressibleByArrayLiteral {
    /// The ranges, ascending, without gaps or overlaps between neighbours that could be one.
    public private(set) var ranges: [ClosedRange<Int>]

    /// 200 to 299 (RFC 9110 §15.3).
    public static let successful = StatusCodes(200...299)

    /// The codes of a range.
    public init(_ range: ClosedRange<Int>) { ranges = [range] }

    /// The codes of a range; none where it is empty.
    public init(_ range: Range<Int>) { ranges = range.isEmpty ? [] : [ClosedRange(range)] }

    /// The codes of several ranges.
    public init(arrayLiteral elements: ClosedRange<Int>...) {
        ranges = []
        for element in elements { insert(element) }
    }

    /// Whether the code belongs to the set.
    public func contains(_ code: Int) -> Bool { ranges.contains { $0.contains(code) } }

    /// Adds one code.
    public mutating func insert(_ code: Int) { insert(code...code) }

    /// Adds the codes of a range.
    public mutating func insert(_ added: ClosedRange<Int>) {
        var merged = added
        var kept: [ClosedRange<Int>] = []
        for range in ranges {
            if touches(range, merged) {
                merged = min(range.lowerBound, merged.lowerBound)...max(range.upperBound, merged.upperBound)
            } else {
                kept.append(range)
            }
        }
        kept.append(merged)
        ranges = kept.sorted { $0.lowerBound < $1.lowerBound }
    }

    private func touches(_ first: ClosedRange<Int>, _ second: ClosedRange<Int>) -> Bool {
        let (low, high) = first.lowerBound <= second.lowerBound ? (first, second) : (second, first)
        return high.lowerBound <= low.upperBound || high.lowerBound - 1 == low.upperBound
    }
}

extension StatusCodes: Codable {
    /// Reads `["200-299", "304"]`.
    public init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        ranges = []
        while !list.isAtEnd {
            let text = try list.decode(String.self)
            let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard bounds.count <= 2, let first = bounds.first ?? nil, let last = bounds.last ?? nil,
                first <= last
            else {
                throw DecodingError.dataCorruptedError(
                    in: list, debugDescription: "\(TextQuote(text)) is no range of status codes like 200-299")
            }
            insert(first...last)
        }
    }

    /// Writes `["200-299", "304"]`.
    public func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        for range in ranges {
            let (first, last) = (range.lowerBound, range.upperBound)
            try list.encode(first == last ? "\(first)" : "\(first)-\(last)")
        }
    }
}
