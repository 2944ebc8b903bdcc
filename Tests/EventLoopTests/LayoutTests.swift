// SPDX-License-Identifier: Apache-2.0

import CLinux
import CTestSupport
import Glibc
import Testing

/// What assertions check in the C targets, checked for Swift: on 32-bit machines glibc has two layouts of its
/// structures, by flags that Swift's Glibc module and the C targets may be given apart.
@Suite struct LayoutTests {
    @Test func swiftAndCShareTheLayoutsOfTheSystemsStructures() {
        let sizes = ctest_shared_sizes()
        #expect(MemoryLayout<off_t>.size == sizes.off_t && sizes.off_t == 8)
        #expect(MemoryLayout<time_t>.size == sizes.time_t && sizes.time_t == 8)
        #expect(MemoryLayout<stat>.size == sizes.stat)
        #expect(MemoryLayout<timespec>.size == sizes.timespec)
        #expect(MemoryLayout<timeval>.size == sizes.timeval)
        #expect(MemoryLayout<statvfs>.size == sizes.statvfs)
        #expect(MemoryLayout<dirent>.size == sizes.dirent)
        #expect(MemoryLayout<epoll_event>.size == sizes.epoll_event)
        #expect(MemoryLayout<rlimit>.size == sizes.rlimit)
    }
}
