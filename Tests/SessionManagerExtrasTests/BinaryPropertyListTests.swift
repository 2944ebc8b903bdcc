// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import SessionManagerExtras
import Testing

struct BinaryPropertyListTests {
    /// A document of these objects, each referred to by one byte.
    private func document(_ objects: [[UInt8]], top: UInt8 = 0, count: UInt64? = nil) -> Data {
        var bytes = Array("bplist00".utf8)
        var table: [UInt8] = []
        for object in objects {
            table += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
            bytes += object
        }
        let start = UInt64(bytes.count)
        bytes += table + [0, 0, 0, 0, 0, 0, 2, 1]
        for number in [count ?? UInt64(objects.count), UInt64(top), start] {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
            }
        }
        return Data(bytes)
    }

    @Test("objects that refer to others, each once or often")
    func shared() throws {
        let value = try PropertyListValue(
            parsing: document([[0xA3, 1, 1, 2], [0x51, 0x61], [0xD1, 1, 1], [0x80, 7]]))
        #expect(value == .array([.string("a"), .string("a"), .dictionary(["a": .string("a")])]))
        #expect(try PropertyListValue(parsing: document([[0x81, 1, 2]])) == .uid(258))
        #expect(try PropertyListValue(parsing: document([[0x62, 0, 0xFC, 0, 0x41]])) == .string("üA"))
        #expect(try PropertyListValue(parsing: document([[0x5F, 0x10, 1, 0x61]])) == .string("a"))
        let least: [UInt8] = [0x13, 0x80, 0, 0, 0, 0, 0, 0, 0]
        #expect(try PropertyListValue(parsing: document([least])) == .integer(.min))
        let greatest: [UInt8] = [0x14] + Array(repeating: 0, count: 8) + Array(repeating: 255, count: 8)
        #expect(try PropertyListValue(parsing: document([greatest])) == .unsigned(.max))
        #expect(try PropertyListValue(parsing: document([[0x22, 0x3F, 0x80, 0, 0]])) == .real(1))
    }

    @Test(
        "hostile documents are refused",
        arguments: [
            [[0xA1, 0]],  // contains itself
            [[0xA1, 1], [0xA1, 0]],  // contains itself through another
            [[0xA1, 9]],  // refers to nothing
            [[0xAF, 0x13, 0x7F, 255, 255, 255, 255, 255, 255, 255]],  // longer than anything
            [[0x5F, 0x13, 255, 255, 255, 255, 255, 255, 255, 255]],  // longer still
            [[0x4F, 0x20]],  // a length that is no number
            [[0xD1, 1, 1], [0x10, 5]],  // a key that is a number
            [[0x33, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0]],  // a date that never comes
            [[0x00]], [[0x15]], [[0xFF]], [[0x51, 0x80]], [[0x61, 0xD8, 0x00]], [[0x71, 0xFF]],
        ] as [[[UInt8]]])
    func hostile(_ objects: [[UInt8]]) {
        #expect(throws: PropertyListParseError.self) { _ = try PropertyListValue(parsing: document(objects)) }
    }

    @Test("a table that lies about its length, a top object that is not there, and every cut")
    func lies() throws {
        for count in [0, 2, 1 << 32, UInt64.max] {
            #expect(throws: PropertyListParseError.self) {
                _ = try PropertyListValue(parsing: document([[0x09]], count: count))
            }
        }
        #expect(throws: PropertyListParseError.self) {
            _ = try PropertyListValue(parsing: document([[0x09]], top: 1))
        }
        let whole = document([[0xA2, 1, 1], [0x51, 0x61]])
        for length in 0..<whole.count {
            // Shorter than its first word, it is text.
            guard length > 6 else { continue }
            #expect(throws: PropertyListParseError.self) {
                _ = try PropertyListValue(parsing: whole.prefix(length))
            }
        }
    }

    @Test(
        "each object contains the next twice: forty of them stand for a million million values, and are refused"
    )
    func expansion() {
        var objects: [[UInt8]] = (1...40).map { [0xA2, UInt8($0), UInt8($0)] }
        objects.append([0x09])
        #expect(throws: PropertyListParseError.self) { _ = try PropertyListValue(parsing: document(objects)) }
    }

    /// Objects each of which contains the one before it, and one that contains those of these numbers;
    /// referred to by two bytes.
    private func chain(_ count: Int, top: [Int]) -> Data {
        var objects: [[UInt8]] = [[0x09]]
        let name: (Int) -> [UInt8] = { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        for number in 1...count { objects.append([0xA1] + name(number - 1)) }
        objects.append([0xA0 | UInt8(top.count)] + top.flatMap(name))
        var bytes = Array("bplist00".utf8)
        var table: [UInt8] = []
        for object in objects {
            table += name(bytes.count)
            bytes += object
        }
        let start = bytes.count
        bytes += table + [0, 0, 0, 0, 0, 0, 2, 2]
        for number in [objects.count, objects.count - 1, start] {
            bytes += Array(repeating: 0, count: 6) + name(number)
        }
        return Data(bytes)
    }

    @Test("what was read at a place where it was not too deep is not taken for another where it is")
    func reusedDepth() throws {
        _ = try PropertyListValue(parsing: chain(511, top: [511]))
        _ = try PropertyListValue(parsing: chain(511, top: [300, 511, 1]))
        for (count, top) in [(512, [512]), (512, [1, 512]), (900, [511, 900]), (1530, [510, 1020, 1530])] {
            #expect(throws: PropertyListParseError.self, "\(count), \(top)") {
                _ = try PropertyListValue(parsing: chain(count, top: top))
            }
        }
    }

    @Test("objects that overlap cannot make more of a document than it has bytes")
    func overlap() {
        // Object 0 lists 100 others, which all begin one byte apart inside one long piece of data.
        var objects: [[UInt8]] = [[0xAF, 0x10, 100] + (1...100).map { UInt8($0) }]
        objects += Array(repeating: [0x4F], count: 99)
        objects.append([0x4F, 0x10, 200] + Array(repeating: 0x44, count: 200))
        var bytes = document(objects)
        // All from the second on refer to data of four bytes, one byte apart: together more than the
        // document.
        let table = bytes.count - 32 - 2 * objects.count
        for number in 1...100 {
            let offset = 8 + objects[0].count + 99 + 3 + number
            bytes[table + 2 * number] = UInt8(offset >> 8)
            bytes[table + 2 * number + 1] = UInt8(offset & 0xFF)
        }
        #expect(throws: Never.self) { try PropertyListValue(parsing: bytes) }
        for index in 8 + objects[0].count..<table { bytes[index] = 0x4E }
        #expect(throws: PropertyListParseError.self) { _ = try PropertyListValue(parsing: bytes) }
    }
}
