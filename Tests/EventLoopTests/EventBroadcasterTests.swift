// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import TestSupport
import Testing

/// Events from several threads to several subscribers.
@Suite(.timeLimit(.minutes(5))) struct EventBroadcasterTests {
    private let broadcaster = EventBroadcaster<Int>()

    /// A descriptor pair: the first is readable once something was written into the second.
    private func pipe() -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        #expect(Glibc.pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    @Test(
        "UPL-516 a subscription can be ended, and an event published, while a handler runs on another thread"
    )
    func noLockWhileDelivering() async throws {
        let (one, other) = (try Reactor(name: "one"), try Reactor(name: "other"))
        let (readable, writable) = pipe()
        defer { for end in [readable, writable] { close(end) } }
        let log = EventLog<Int>()
        let broadcaster = broadcaster
        let rest = broadcaster.subscribe { _ in }
        _ = broadcaster.subscribe { event in
            log.append(event)
            guard event == 1 else { return }
            other.perform {
                broadcaster.unsubscribe(rest)
                broadcaster.publish(2)
                write(writable, "x", 1)
            }
            // Where the other thread waited for a lock of the delivery, this would never end.
            blockUntilReadable(readable)
        }
        one.perform { broadcaster.publish(1) }
        #expect(await log.wait(forCount: 2) == [1, 2])
    }

    @Test("all subscribers get the events of all threads in one order, and the end behind them")
    func order() async throws {
        let logs = [EventLog<Int>(), EventLog<Int>()]
        for log in logs { _ = broadcaster.subscribe({ log.append($0) }, onEnd: { log.append(-1) }) }
        let reactors = try (0..<4).map { try Reactor(name: "publisher-\($0)") }
        await withTaskGroup { [broadcaster] group in
            for (number, reactor) in reactors.enumerated() {
                group.addTask {
                    try? await reactor.result {
                        for event in 0..<500 { broadcaster.publish(number * 1_000 + event) }
                    }
                }
            }
        }
        broadcaster.close()
        let first = await logs[0].wait { $0.last == -1 }
        #expect(await logs[1].wait { $0.last == -1 } == first)
        #expect(first.count == 2_001)
        for number in 0..<4 {
            #expect(first.filter { $0 / 1_000 == number && $0 >= 0 } == (0..<500).map { number * 1_000 + $0 })
        }
    }

    @Test("a handler may publish and subscribe; its event comes after the one it handles")
    func reentry() {
        let log = EventLog<String>()
        _ = broadcaster.subscribe { [broadcaster] event in
            log.append("first \(event)")
            guard event == 1 else { return }
            broadcaster.publish(2)
            _ = broadcaster.subscribe { log.append("late \($0)") }
        }
        _ = broadcaster.subscribe { log.append("second \($0)") }
        broadcaster.publish(1)
        broadcaster.publish(3)
        #expect(
            log.elements == ["first 1", "second 1", "first 2", "second 2", "first 3", "second 3", "late 3"])
    }
}
