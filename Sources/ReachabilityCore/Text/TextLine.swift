// SPDX-License-Identifier: Apache-2.0

/// A line of text under construction, as bytes; it reuses its memory, so that a line costs no allocation.
package struct TextLine: ~Copyable {
    // Raw memory: the checks of an array cost more than appending one of a line's hundred parts.
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    package private(set) var count = 0

    package init() {
        capacity = 128
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    /// The UTF-8 bytes so far.
    package var bytes: [UInt8] { bytes(from: 0) }

    /// The bytes from index `start`, which must exist.
    package borrowing func bytes(from start: Int) -> [UInt8] { withBytes { Array($0[start...]) } }

    package var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }

    /// Passes the bytes to `body` without a copy.
    package borrowing func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Makes room for `more` bytes, so that a long line is not copied while it grows.
    package mutating func reserve(_ more: Int) { makeRoom(more) }

    /// Removes the last byte, which must exist.
    package mutating func removeLast() { count -= 1 }

    /// Removes the text and keeps the memory.
    package mutating func removeAll() { count = 0 }

    /// Removes the text, and releases memory of more than 1 MiB, which a line about thousands of links needs.
    package mutating func trim() {
        if capacity > 1 << 20 { self = TextLine() } else { removeAll() }
    }

    package mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(bytes: $0) }
    }

    /// Appends a literal; cheaper than a string.
    package mutating func append(literal text: StaticString) {
        append(bytes: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package mutating func append(byte: UInt8) {
        makeRoom(1)
        base[count] = byte
        count += 1
    }

    /// Appends bytes that are valid UTF-8.
    @inline(__always)
    package mutating func append(bytes more: UnsafeBufferPointer<UInt8>) {
        guard let source = more.baseAddress else { return }
        makeRoom(more.count)
        (base + count).update(from: source, count: more.count)
        count += more.count
    }

    @inline(__always)
    private mutating func makeRoom(_ more: Int) { if capacity - count < more { grow(more) } }

    @inline(never)
    private mutating func grow(_ more: Int) {
        let larger = capacity + max(more, capacity)
        let room = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        room.update(from: base, count: count)
        base.deallocate()
        (base, capacity) = (room, larger)
    }

    // One function for each type of number: generic code of another module costs twenty times as much.
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

    /// Appends a non-negative number in decimal with leading zeros.
    package mutating func append(_ number: Int64, digits: Int) { append(number.magnitude, digits: digits) }

    private mutating func append(_ magnitude: UInt64, digits: Int) {
        makeRoom(digits)
        var rest = magnitude
        for position in (count..<count + digits).reversed() {
            base[position] = UInt8(truncatingIfNeeded: 48 + rest % 10)
            rest /= 10
        }
        count += digits
    }

    /// Appends an address as ``IPAddress/description`` writes it.
    package mutating func append(_ address: IPAddress) {
        makeRoom(IPAddress.longestText)
        let room = UnsafeMutableBufferPointer(start: base + count, count: IPAddress.longestText)
        count += address.write(to: room, prefixLength: nil)
    }
}

// Safe: the memory has a single owner, because the type is not copyable.
extension TextLine: @unchecked Sendable {}
