// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
import Testing

/// The memory that libcurl is given.
struct LibraryMemoryTests {
    /// Around what is kept for a thread, libcurl's notes about a request, and its buffer of 16 KiB and a
    /// byte.
    static let sizes = [
        0, 1, 1032, 1033, 1496, 2048, 2049, 8192, 8224, 8225, 16_385, 16_448, 16_449, 1 << 20,
    ]

    @Test("each block holds what was asked for, however many there are", arguments: sizes)
    func blocks(_ size: Int) throws {
        // More than are kept, twice: the second time some are those of the first.
        for _ in 0..<2 {
            let blocks = try (0..<9).map { number in
                let block = try #require(ccurl_malloc(size))
                memset(block, Int32(number), size)
                return block
            }
            #expect(Set(blocks).count == 9)
            for (number, block) in blocks.enumerated() {
                #expect(UnsafeRawBufferPointer(start: block, count: size).allSatisfy { $0 == UInt8(number) })
                ccurl_free(block)
            }
        }
    }

    @Test("memory that was in use before is zeroed where that is asked for", arguments: sizes)
    func zeroed(_ size: Int) throws {
        for _ in 0..<9 {
            let block = try #require(ccurl_calloc(1, size))
            #expect(UnsafeRawBufferPointer(start: block, count: size).allSatisfy { $0 == 0 })
            memset(block, 0xa5, size)
            ccurl_free(block)
        }
    }

    @Test("more than there can be is refused, and nothing can be given back")
    func refused() {
        #expect(ccurl_calloc(.max, 4) == nil)
        ccurl_free(nil)
    }

    @Test("a block grows as malloc's own do", arguments: sizes)
    func grown(_ size: Int) throws {
        let block = try #require(ccurl_malloc(size))
        memset(block, 7, size)
        let larger = try #require(realloc(block, size + 10_000))
        #expect(UnsafeRawBufferPointer(start: larger, count: size).allSatisfy { $0 == 7 })
        ccurl_free(larger)
    }

    @Test("threads that take and give back at once never share a block")
    func threads() async {
        let intact = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<4 {
                group.addTask {
                    for round in 0..<20_000 {
                        let size = round.isMultiple(of: 2) ? 1496 : 16_385
                        guard let block = ccurl_malloc(size) else { return false }
                        memset(block, Int32(number), size)
                        let bytes = UnsafeRawBufferPointer(start: block, count: size)
                        guard bytes[0] == UInt8(number), bytes[size / 2] == UInt8(number),
                            bytes[size - 1] == UInt8(number)
                        else { return false }
                        ccurl_free(block)
                    }
                    return true
                }
            }
            return await group.allSatisfy { $0 }
        }
        #expect(intact)
    }
}
