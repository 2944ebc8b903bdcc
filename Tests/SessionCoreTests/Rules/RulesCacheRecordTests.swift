// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Testing

@testable import SessionCore

struct RulesCacheRecordTests {
    private func entry() throws -> CacheEntry {
        try CacheFixture.entry(
            ["cache-control": "max-age=60", "etag": "\"ü\"", "vary": "accept, accept-language, user-agent"],
            request: CacheFixture.request(["accept": "a/b", "user-agent": "", "authorization": "Bearer 1"]),
            delay: 3)
    }

    @Test("the checksum is that of zip")
    func checksum() {
        #expect(CRC32.of("123456789".utf8) == 0xCBF4_3926)
        #expect(CRC32.of([]) == 0)
        var parts = CRC32()
        parts.update("1234".utf8)
        parts.update("56789".utf8)
        #expect(parts.value == 0xCBF4_3926)
    }

    @Test("an entry is written, read and the same")
    func roundTrip() throws {
        let entry = try entry()
        let bytes = CacheRecord.head(entry, contentChecksum: 0xDEAD_BEEF)
        #expect(CacheRecord.headLength(bytes.prefix(CacheRecord.prefixLength)) == bytes.count)
        let read = try #require(CacheRecord.read(bytes))
        #expect(read.entry == entry)
        #expect(read.contentChecksum == 0xDEAD_BEEF)
    }

    @Test("FLD-057 credentials leave no hash that can be compared with another entry's, and are known again")
    func credentials() throws {
        let request = try CacheFixture.request(["authorization": "Bearer 1"])
        func entry(_ request: SessionRequest) throws -> CacheEntry {
            let stored = try CacheFixture.entry(["cache-control": "max-age=60"], request: request)
            return try #require(CacheRecord.read(CacheRecord.head(stored, contentChecksum: 1))).entry
        }
        let (first, second) = (try entry(request), try entry(request))
        #expect(first != second && first.key == second.key)
        let other = try CacheFixture.request(["authorization": "Bearer 2"])
        let none = try CacheFixture.request([:])
        for entry in [first, second] {
            #expect(entry.hasSameAuthorization(as: request))
            #expect(!entry.hasSameAuthorization(as: other) && !entry.hasSameAuthorization(as: none))
        }
        #expect(try entry(none).hasSameAuthorization(as: none))
        #expect(try !entry(none).hasSameAuthorization(as: request))
    }

    @Test("FLD-057 the mark of credentials is SipHash-2-4, by its published vectors")
    func sipHash() {
        let key = SIMD2<UInt64>(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)
        #expect(CredentialMark.sipHash([], key) == 0x726f_db47_dd0e_0e31)
        #expect(CredentialMark.sipHash(Array(0..<15 as Range<UInt8>), key) == 0xa129_ca61_49be_45e5)
    }

    @Test("every record that is one bit or byte different, shorter or longer is a miss")
    func broken() throws {
        let bytes = CacheRecord.head(try entry(), contentChecksum: 1)
        for index in bytes.indices {
            for bit in 0..<8 {
                var broken = bytes
                broken[index] ^= 1 << bit
                #expect(CacheRecord.read(broken) == nil)
            }
            #expect(CacheRecord.read(bytes.prefix(index)) == nil)
        }
        #expect(CacheRecord.read(bytes + [0]) == nil)
    }

    @Test("records of other versions, huge lengths and noise are misses, with a right checksum as well")
    func hostile() throws {
        let bytes = CacheRecord.head(try entry(), contentChecksum: 1)
        func sealed(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
            var body = Array(bytes.dropLast(4))
            change(&body)
            return body + withUnsafeBytes(of: CRC32.of(body).littleEndian) { Array($0) }
        }
        #expect(CacheRecord.read(sealed { _ in }) != nil)
        for version in [1, 2, 4] as [UInt8] { #expect(CacheRecord.read(sealed { $0[4] = version }) == nil) }
        #expect(CacheRecord.read(sealed { $0.replaceSubrange(9..<13, with: [255, 255, 255, 255]) }) == nil)
        let longer = sealed { body in
            body.append(0)
            body[5] += 1
        }
        #expect(CacheRecord.headLength(longer) == longer.count)
        #expect(CacheRecord.read(longer) == nil)
        #expect(CacheRecord.headLength([82, 99, 104, 67, 1, 255, 255, 255, 255]) == nil)
        #expect(CacheRecord.headLength([]) == nil)
        for _ in 0..<2000 {
            _ = CacheRecord.read(
                sealed { body in
                    for _ in 0...Int.random(in: 0...4) {
                        body[Int.random(in: 9..<body.count)] = .random(in: 0...255)
                    }
                })
        }
    }

    @Test("the index keeps what was used last")
    func index() {
        var index = CacheIndex(capacity: 10)
        for key in ["a", "b", "c"] { #expect(index.stored(key, size: 3) == []) }
        index.used("a")
        #expect(index.stored("d", size: 3) == ["b"])
        #expect(index.keys == ["c", "a", "d"])
        #expect(index.usage == 9)
        #expect(index.stored("a", size: 1) == [])
        #expect(index.usage == 7)
        #expect(index.stored("e", size: 9) == ["c", "d"])
        #expect(index.keys == ["a", "e"])
        index.removed("a")
        index.removed("nothing")
        index.used("nothing")
        #expect(index.keys == ["e"])
        #expect(index.stored("x", size: 11) == ["x"])
        #expect(index.keys == ["e"])
        #expect(index.stored("f", size: 2) == ["e"])
        #expect(index.usage == 2)
        #expect(index.count == 1)
        let isThere = index.contains("x")
        #expect(!isThere)
        let accepted = (index.accepts(size: 1), index.accepts(size: 2))
        #expect(accepted == (true, false))
    }

    @Test("the index agrees with a plain list through random events")
    func indexModel() {
        var index = CacheIndex(capacity: 100)
        var model: [(key: String, size: Int64)] = []
        for _ in 0..<5000 {
            let key = "\(Int.random(in: 0..<20))"
            switch Int.random(in: 0..<4) {
            case 0, 1:
                let size = Int64.random(in: 0...40)
                let gone = index.stored(key, size: size)
                model.removeAll { $0.key == key }
                model.append((key, size))
                var expected: [String] = []
                while model.reduce(0, { $0 + $1.size }) > 100 { expected.append(model.removeFirst().key) }
                #expect(gone == expected)
            case 2:
                index.used(key)
                if let index = model.firstIndex(where: { $0.key == key }) {
                    model.append(model.remove(at: index))
                }
            default:
                index.removed(key)
                model.removeAll { $0.key == key }
            }
            #expect(index.keys == model.map(\.key))
            #expect(index.usage == model.reduce(0) { $0 + $1.size })
        }
        index.removedAll()
        #expect(index.keys.isEmpty)
        #expect(index.stored("new", size: 1) == [])
    }
}
