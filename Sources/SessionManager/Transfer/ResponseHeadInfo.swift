// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// What a transfer itself needs to know of the header fields, picked up as the lines come.
struct ResponseHeadInfo {
    /// `Content-Length`; nil if missing or invalid, and without meaning beside a coding (RFC 9112 §6.3).
    var length: Int64? { hasTransferCoding ? nil : named }
    private var named: Int64?
    private var hasTransferCoding = false
    /// Whether the content comes in chunks, the last of which ends it (RFC 9112 §7.1).
    private(set) var isChunked = false
    /// What makes the head unusable: contradicting or invalid lengths (RFC 9110 §8.6), some of which libcurl
    /// takes; two readers of one connection would see different responses.
    private(set) var fault: String?
    /// Whether the content is compressed, so that its length says nothing about what will come out.
    var isEncoded: Bool { !codings.isEmpty }
    /// What was done to the content, in the order in which it was done.
    private(set) var codings: [ContentCoding] = []
    /// Whether there is a `Location`.
    private(set) var hasLocation = false

    mutating func record(_ line: UnsafeRawBufferPointer) {
        // The letters that begin the names that matter, in either case: most lines are passed over.
        switch line.first {
        case UInt8(ascii: "C"), UInt8(ascii: "c"):
            if let value = Self.value(line, "content-length") {
                record(length: value)
            } else if let value = Self.value(line, "content-encoding") {
                record(codings: value)
            }
        case UInt8(ascii: "L"), UInt8(ascii: "l"):
            if Self.value(line, "location") != nil { hasLocation = true }
        case UInt8(ascii: "T"), UInt8(ascii: "t"):
            if let value = Self.value(line, "transfer-encoding") { record(transferCodings: value) }
        case 0x20, 0x09:
            // Of folded lines that of `Transfer-Encoding` alone has not been joined (`unfold`, head.c).
            if hasTransferCoding { fault = "its Transfer-Encoding is written in several lines" }
        default: break
        }
    }

    private mutating func record(transferCodings text: Slice<UnsafeRawBufferPointer>) {
        hasTransferCoding = true
        let last = text.lastIndex(of: UInt8(ascii: ",")).map { text.index(after: $0) } ?? text.startIndex
        let name = Slice(base: text.base, bounds: last..<text.endIndex).droppingLineEnd
        isChunked = name.equalsIgnoringCase("chunked".utf8)
    }

    private mutating func record(codings text: Slice<UnsafeRawBufferPointer>) {
        for name in text.split(separator: UInt8(ascii: ",")) {
            let name = Slice(base: text.base, bounds: name.startIndex..<name.endIndex).droppingLineEnd
            if ContentCodings.isNone(name) { continue }
            codings.append(ContentCoding(name: name))
        }
    }

    private mutating func record(length text: Slice<UnsafeRawBufferPointer>) {
        if let number = Self.number(text) { return record(length: number) }
        // A proxy makes a list of equal numbers of several lines.
        for part in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let part = Slice(base: text.base, bounds: part.startIndex..<part.endIndex).droppingLineEnd
            guard let number = Self.number(part) else {
                fault = "its Content-Length is no number"
                return
            }
            record(length: number)
        }
    }

    private mutating func record(length number: Int64) {
        if let named, named != number { fault = "it names two lengths, \(named) and \(number)" }
        named = number
    }

    /// The value, where the line has this name (in lower case).
    private static func value(
        _ line: UnsafeRawBufferPointer, _ name: StaticString
    ) -> Slice<UnsafeRawBufferPointer>? {
        let count = name.utf8CodeUnitCount
        guard line.count > count, line[count] == UInt8(ascii: ":") else { return nil }
        for index in 0..<count where line[index] | 0x20 != name.utf8Start[index] | 0x20 { return nil }
        return line[(count + 1)...].droppingLineEnd
    }

    private static func number(_ text: Slice<UnsafeRawBufferPointer>) -> Int64? {
        guard !text.isEmpty, text.count <= 18 else { return nil }
        var number: Int64 = 0
        for byte in text {
            guard (0x30...0x39).contains(byte) else { return nil }
            number = number * 10 + Int64(byte - 0x30)
        }
        return number
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Without blanks and line ends around it; spelt out, since it runs for each response.
    fileprivate var droppingLineEnd: Self {
        var (first, last) = (startIndex, endIndex)
        while first < last, base[first] == 0x20 || base[first] == 0x09 { first += 1 }
        while first < last, base[last - 1] <= 0x20 { last -= 1 }
        return Slice(base: base, bounds: first..<last)
    }
}
