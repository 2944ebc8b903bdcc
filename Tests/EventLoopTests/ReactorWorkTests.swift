// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Synchronization
import Testing

/// Work and jobs from other threads.
@Suite struct ReactorWorkTests {
    @Test func perform_KeepsOrder_FromOneThread() async throws {
        let reactor = try Reactor(name: "test")
        let order = Mutex<[Int]>([])
        for number in 0..<1000 { reactor.perform { order.withLock { $0.append(number) } } }
        reactor.stop()
        #expect(order.withLock { $0 } == Array(0..<1000))
    }
}
