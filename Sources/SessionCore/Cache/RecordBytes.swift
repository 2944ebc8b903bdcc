// SPDX-License-Identifier: Apache-2.0

/// Puts numbers and texts into bytes, little-endian, each text behind its length.
struct RecordWriter {
    var bytes: [UInt8] = []

    mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(bytes other: some Collection<UInt8>) {
        append(UInt32(clamping: other.count))
        bytes.append(contentsOf: other)
    }

    mutating func append(text: String) { append(bytes: text.utf8) }
}

/// Takes apart what a writer wrote; nil for everything that would reach beyond the end.
struct RecordReader {
    private let content: [UInt8]
    private var index = 0

    init(_ bytes: some Collection<UInt8>) { content = Array(bytes) }

    var isAtEnd: Bool { index == content.count }

    mutating func number<Number: FixedWidthInteger>() -> Number? {
        guard let bytes = take(MemoryLayout<Number>.size) else { return nil }
        return bytes.reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    mutating func bytes() -> [UInt8]? {
        guard let count: UInt32 = number(), let bytes = take(Int(count)) else { return nil }
        return Array(bytes)
    }

    mutating func text() -> String? {
        guard let bytes = bytes() else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= content.count - index else { return nil }
        defer { index += count }
        return content[index..<index + count]
    }
}
