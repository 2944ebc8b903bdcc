// SPDX-License-Identifier: Apache-2.0

/// Elements of DER (X.690 §8, §10) one after the other, out of untrusted bytes.
///
/// Reads what certificates consist of: one-byte tags and definite lengths in their shortest form. Anything
/// else, and an element that would end behind its surroundings, ends the reading with nil.
struct DERReader {
    struct Element {
        let tag: UInt8
        /// The element with its tag and length.
        let whole: Range<Int>
        let content: Range<Int>
    }

    let bytes: [UInt8]
    private(set) var position: Int
    private let end: Int

    init(_ bytes: [UInt8]) { self.init(bytes, bytes.indices) }

    /// What is inside an element.
    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { position == end }

    /// The next element, if it has this tag; otherwise nil, and nothing is read.
    mutating func next(_ tag: UInt8) -> Element? {
        guard position < end, bytes[position] == tag else { return nil }
        return next()
    }

    mutating func next() -> Element? {
        guard end - position >= 2 else { return nil }
        let start = position
        let tag = bytes[start]
        // Tags above 30 take several bytes; no field of a certificate has one.
        guard tag & 0x1F != 0x1F else { return nil }
        var contentStart = start + 2
        var length = Int(bytes[start + 1])
        if length >= 0x80 {
            let count = length & 0x7F
            guard (1...3).contains(count), end - contentStart >= count else { return nil }
            length = bytes[contentStart..<contentStart + count].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 0x80, length >> (8 * (count - 1)) != 0 else { return nil }
            contentStart += count
        }
        guard end - contentStart >= length else { return nil }
        position = contentStart + length
        return Element(tag: tag, whole: start..<position, content: contentStart..<position)
    }

    /// A reader of what is inside the next element, if that has this tag.
    mutating func enter(_ tag: UInt8) -> DERReader? { next(tag).map { DERReader(bytes, $0.content) } }
}

/// The tags that certificates use.
enum DERTag {
    static let octetString: UInt8 = 0x04
    static let oid: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    static let integer: UInt8 = 0x02
    static let boolean: UInt8 = 0x01
    static let bitString: UInt8 = 0x03
    static let utcTime: UInt8 = 0x17
    static let generalizedTime: UInt8 = 0x18
    /// `[n]`, constructed.
    static func explicit(_ number: UInt8) -> UInt8 { 0xA0 | number }
}
