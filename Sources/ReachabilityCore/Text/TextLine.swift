// SPDX-License-Identifier: Apache-2.0

/// A line of text that is being put together, as the bytes that will be written.
///
/// Its memory is kept from line to line, so that a line of output costs no allocation.
package struct TextLine: Sendable, Equatable {
    // Longer than the text: so a part is put in by a copy alone, where `Array.append` would look at much more.
    private var room: [UInt8] = []
    /// The number of bytes so far.
    package private(set) var count = 0

    package init() {}

    /// The UTF-8 bytes so far.
    package var bytes: [UInt8] { Array(room[..<count]) }

    /// The bytes from the `start`th on, which must be there.
    package func bytes(from start: Int) -> [UInt8] { Array(room[start..<count]) }

    /// The bytes as text.
    package var text: String { String(decoding: room[..<count], as: UTF8.self) }

    package static func == (a: TextLine, b: TextLine) -> Bool { a.room[..<a.count] == b.room[..<b.count] }

    /// Hands the bytes so far to `body`, without a copy.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        room.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Forgets the text and keeps the memory.
    package mutating func removeAll() { count = 0 }

    /// Appends text as it is.
    package mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(bytes: $0) }
    }

    /// Appends text that is written in the program; cheaper than a string.
    package mutating func append(literal text: StaticString) {
        text.withUTF8Buffer { append(bytes: $0) }
    }

    /// Appends one byte.
    package mutating func append(byte: UInt8) {
        makeRoom(1)
        room[count] = byte
        count += 1
    }

    /// Appends bytes that are known to be UTF-8.
    @inline(__always)
    package mutating func append(bytes more: UnsafeBufferPointer<UInt8>) {
        makeRoom(more.count)
        guard let source = more.baseAddress else { return }
        let end = count + more.count
        room.withUnsafeMutableBufferPointer { room in
            // There is room: so the pointer exists, and the bytes lie within it.
            if let base = room.baseAddress { (base + count).update(from: source, count: more.count) }
        }
        count = end
    }

    @inline(__always)
    private mutating func makeRoom(_ more: Int) {
        if room.count - count < more { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        var larger = [UInt8](repeating: 0, count: room.count + max(more, room.count, 128))
        larger.replaceSubrange(..<count, with: room[..<count])
        room = larger
    }

    // One for each kind of number: generic code of another module costs twenty calls for one.
    /// Appends a number in decimal.
    package mutating func append(_ number: Int) { append(isNegative: number < 0, UInt64(number.magnitude)) }
    package mutating func append(_ number: Int64) { append(isNegative: number < 0, number.magnitude) }
    package mutating func append(_ number: Int32) { append(Int(number)) }
    package mutating func append(_ number: UInt32) { append(isNegative: false, UInt64(number)) }
    package mutating func append(_ number: UInt64) { append(isNegative: false, number) }

    private mutating func append(isNegative: Bool, _ magnitude: UInt64) {
        if isNegative { append(byte: UInt8(ascii: "-")) }
        var digits = 1
        var rest = magnitude / 10
        while rest > 0 {
            digits += 1
            rest /= 10
        }
        append(magnitude, digits: digits)
    }

    /// Appends a number that is not negative in decimal, with leading zeros.
    package mutating func append(_ number: Int64, digits: Int) { append(number.magnitude, digits: digits) }

    private mutating func append(_ magnitude: UInt64, digits: Int) {
        makeRoom(digits)
        let end = count + digits
        room.withUnsafeMutableBufferPointer { room in
            var rest = magnitude
            for position in (count..<end).reversed() {
                room[position] = UInt8(truncatingIfNeeded: 48 + rest % 10)
                rest /= 10
            }
        }
        count = end
    }

    /// Appends an address as ``IPAddress/description`` writes it.
    package mutating func append(_ address: IPAddress) {
        makeRoom(IPAddress.longestText)
        let start = count
        count += room.withUnsafeMutableBufferPointer { room in
            address.write(to: UnsafeMutableBufferPointer(rebasing: room[start...]), prefixLength: nil)
        }
    }
}
