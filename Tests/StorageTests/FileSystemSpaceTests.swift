// SPDX-License-Identifier: Apache-2.0

import Storage
import Testing

@Suite("The space of a file system")
struct FileSystemSpaceTests {
    @Test("numbers beyond 64 bits are bounded")
    func bounded() {
        let space = FileSystemSpace(blockSize: 4096, free: .max / 2, blocks: .max)
        #expect(space.free == .max && space.size == .max)
        let small = FileSystemSpace(blockSize: 512, free: 3, blocks: 4)
        #expect(small.free == 1536 && small.size == 2048)
    }

    @Test("a path that exists has one, and another has none")
    func paths() {
        let space = FileSystemSpace(path: "/")
        #expect(space.map { $0.size > 0 && $0.free <= $0.size } == true)
        #expect(FileSystemSpace(path: "/nowhere/at/all") == nil)
        #expect(FileSystemSpace(descriptor: -1) == nil)
    }
}
