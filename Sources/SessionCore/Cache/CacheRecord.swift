// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// A stored response as a file: a head with its own length and checksum, then the content.
///
/// Numbers are little-endian; anything but a complete record of this version is a miss.
package enum CacheRecord {
    private static let magic = Array("RchC".utf8)
    /// Earlier ones are misses: 1 had a short hash of the credentials without a key, 2 did not tell servers
    /// apart by `Host`, nor credentials by the names of their fields.
    private static let version: UInt8 = 3
    /// More head than this has no server; the head is read into memory at once.
    package static let longestHead = 1 << 20
    /// Magic, version and the length of the head.
    package static let prefixLength = 9

    /// The head of a file: everything before the content.
    package static func head(_ entry: CacheEntry, contentChecksum: UInt32) -> [UInt8] {
        var writer = RecordWriter()
        writer.append(text: entry.key)
        writer.append(text: entry.response.url.absoluteString)
        writer.append(UInt16(clamping: entry.response.statusCode ?? 0))
        writer.append(text: entry.response.version?.rawValue ?? "")
        writer.append(UInt64(bitPattern: HTTPDate(entry.requestDate).seconds))
        writer.append(UInt64(bitPattern: HTTPDate(entry.responseDate).seconds))
        writer.append(UInt8(entry.authorization == nil ? 0 : 1))
        for number in [entry.authorization?.key.x, entry.authorization?.key.y, entry.authorization?.hash] {
            writer.append(number ?? 0)
        }
        writer.append(UInt8(entry.isDecoded ? 1 : 0))
        writer.append(UInt16(clamping: entry.variants.count))
        for (name, value) in entry.variants.sorted(by: { $0.key < $1.key }).prefix(Int(UInt16.max)) {
            writer.append(text: name)
            writer.append(UInt8(value == nil ? 0 : 1))
            writer.append(text: value ?? "")
        }
        writer.append(bytes: entry.response.headerBlock)
        writer.append(UInt64(bitPattern: entry.contentLength))
        writer.append(contentChecksum)
        var file = RecordWriter()
        file.bytes = magic + [version]
        file.append(UInt32(clamping: writer.bytes.count + 4))
        file.bytes += writer.bytes
        file.append(CRC32.of(file.bytes))
        return file.bytes
    }

    /// How many bytes the whole head has, by its first ``prefixLength``; nil where no head begins so.
    package static func headLength(_ prefix: some Collection<UInt8>) -> Int? {
        guard prefix.count >= prefixLength, prefix.starts(with: magic + [version]) else { return nil }
        var reader = RecordReader(prefix.dropFirst(magic.count + 1).prefix(4))
        guard let length: UInt32 = reader.number(), length <= longestHead else { return nil }
        return prefixLength + Int(length)
    }

    /// Reads a head; nil for anything else, or one that ends early or late.
    package static func read(_ head: some Collection<UInt8>) -> (entry: CacheEntry, contentChecksum: UInt32)?
    {
        guard headLength(head) == head.count, head.count >= prefixLength + 4 else { return nil }
        var checksum = RecordReader(head.suffix(4))
        guard checksum.number() == CRC32.of(head.dropLast(4)) else { return nil }
        var reader = RecordReader(head.dropFirst(prefixLength).dropLast(4))
        guard let key = reader.text(), let address = reader.text(),
            let url = URL(string: address, encodingInvalidCharacters: false),
            let status: UInt16 = reader.number(), let version = reader.text(),
            let requestSeconds: UInt64 = reader.number(), let responseSeconds: UInt64 = reader.number(),
            let hasMark: UInt8 = reader.number(), let first: UInt64 = reader.number(),
            let second: UInt64 = reader.number(), let hash: UInt64 = reader.number(),
            let isDecoded: UInt8 = reader.number(), let count: UInt16 = reader.number()
        else { return nil }
        var variants: [String: String?] = [:]
        for _ in 0..<count {
            guard let name = reader.text(), let hasValue: UInt8 = reader.number(), let value = reader.text()
            else { return nil }
            variants.updateValue(hasValue == 0 ? nil : value, forKey: name)
        }
        guard let block = reader.bytes(), let length: UInt64 = reader.number(), length < UInt64(Int64.max),
            let content: UInt32 = reader.number(), reader.isAtEnd
        else { return nil }
        let response = SessionResponse(
            url: url, statusCode: status == 0 ? nil : Int(status), version: HTTPVersion(rawValue: version),
            headerBlock: block)
        return (
            CacheEntry(
                key: key, response: response,
                requestDate: HTTPDate(seconds: Int64(bitPattern: requestSeconds)).date,
                responseDate: HTTPDate(seconds: Int64(bitPattern: responseSeconds)).date, variants: variants,
                authorization: hasMark == 0
                    ? nil : CredentialMark(key: SIMD2(first, second), hash: hash), isDecoded: isDecoded != 0,
                contentLength: Int64(length)),
            content
        )
    }
}

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
        guard let bytes = read(MemoryLayout<Number>.size) else { return nil }
        return bytes.reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    mutating func bytes() -> [UInt8]? {
        guard let count: UInt32 = number(), let bytes = read(Int(clamping: count)) else { return nil }
        return Array(bytes)
    }

    mutating func text() -> String? {
        guard let bytes = bytes() else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private mutating func read(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= content.count - index else { return nil }
        defer { index += count }
        return content[index..<index + count]
    }
}

/// The checksum of zip and Ethernet (ISO 3309; polynomial 0x04C11DB7, reflected), against faults of a disk.
package struct CRC32: Sendable {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    private var state: UInt32 = .max

    package init() {}

    package mutating func update(_ bytes: some Sequence<UInt8>) {
        var value = state
        Self.table.withUnsafeBufferPointer { table in
            for byte in bytes { value = value >> 8 ^ table[Int((value ^ UInt32(byte)) & 0xFF)] }
        }
        state = value
    }

    package var value: UInt32 { ~state }

    package static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var checksum = CRC32()
        checksum.update(bytes)
        return checksum.value
    }
}
