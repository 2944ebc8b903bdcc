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
        // "C", "L" and "T" in either case begin all the names that matter.
        guard let first = line.first, first | 0x20 == 0x63 || first | 0x20 == 0x6C || first | 0x20 == 0x74
        else {
            // Of folded lines that of `Transfer-Encoding` alone has not been joined (`unfold`, head.c).
            if hasTransferCoding, line.first == 0x20 || line.first == 0x09 {
                fault = "its Transfer-Encoding is written in several lines"
            }
            return
        }
        if let value = Self.value(line, "content-length") {
            record(length: value)
        } else if let value = Self.value(line, "content-encoding") {
            record(codings: value)
        } else if Self.value(line, "location") != nil {
            hasLocation = true
        } else if let value = Self.value(line, "transfer-encoding") {
            hasTransferCoding = true
            let last =
                value.lastIndex(of: UInt8(ascii: ",")).map { value.index(after: $0) } ?? value.startIndex
            let name = Slice(base: value.base, bounds: last..<value.endIndex).droppingLineEnd
            isChunked = name.equalsIgnoringCase("chunked".utf8)
        }
    }

    private mutating func record(codings text: Slice<UnsafeRawBufferPointer>) {
        for name in text.split(separator: UInt8(ascii: ",")) {
            let name = Slice(base: text.base, bounds: name.startIndex..<name.endIndex).droppingLineEnd
            if ContentCodings.isNone(name) { continue }
            codings.append(ContentCoding(name: name))
        }
    }

    private mutating func record(length text: Slice<UnsafeRawBufferPointer>) {
        // A proxy makes a list of equal numbers of several lines.
        let bytes = UnsafeRawBufferPointer(rebasing: text)
        var start = 0
        for index in 0...bytes.count where index == bytes.count || bytes[index] == UInt8(ascii: ",") {
            guard let number = Self.number(bytes[start..<index].droppingLineEnd) else {
                fault = "its Content-Length is no number"
                return
            }
            if let named, named != number {
                fault = "it names two lengths, \(named) and \(number)"
                return
            }
            named = number
            start = index + 1
        }
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
