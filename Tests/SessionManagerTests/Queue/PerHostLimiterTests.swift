// SPDX-License-Identifier: Apache-2.0

import SessionCore
import TestSupport
import Testing

@testable import SessionManager

struct PerHostLimiterTests {
    @Test("what exceeds the limit waits in order, and is admitted as slots become free")
    func order() {
        let slots = Slots<String>(limit: 2)
        #expect(slots.enter("h", priority: 0.5, "a") == .admitted)
        #expect(slots.enter("h", priority: 0.5, "b") == .admitted)
        #expect(slots.enter("h", priority: 0.5, "c") == .queued(ticket: 1))
        #expect(slots.enter("h", priority: 0.5, "d") == .queued(ticket: 2))
        #expect(slots.enter("other", priority: 0.5, "e") == .admitted)
        #expect(slots.release("h", version: .http1_1) == ["c"])
        #expect(slots.release("h", version: .http1_1) == ["d"])
        #expect(slots.release("h", version: .http1_1) == [])
    }

    @Test("each of many origins has slots of its own; those in use are not forgotten")
    func manyOrigins() {
        var random = SeededGenerator(seed: 7)
        let slots = Slots<String>(limit: 1)
        let origins = (0..<600).map { "http://h\($0).example:80" }.shuffled(using: &random)
        for origin in origins { #expect(slots.enter(origin, priority: 0.5, origin) == .admitted) }
        for origin in origins {
            #expect(slots.enter(origin, priority: 0.5, "next of \(origin)") == .queued(ticket: 1))
        }
        // A half of them is through, the first of each with a successor.
        let (idle, used) = (origins.prefix(300), origins.suffix(300))
        for origin in idle {
            #expect(slots.release(origin, version: .http1_1) == ["next of \(origin)"])
            #expect(slots.release(origin, version: .http1_1) == [])
        }
        #expect(idle.allSatisfy { slots.isKnownNotToMultiplex($0) })
        slots.forgetIdleHosts()
        #expect(!idle.contains { slots.isKnownNotToMultiplex($0) })
        for origin in used { #expect(slots.release(origin, version: .http1_1) == ["next of \(origin)"]) }
    }

    @Test("the more urgent come first, equals in order")
    func priority() {
        let slots = Slots<String>(limit: 1)
        _ = slots.enter("h", priority: 0.5, "running")
        for (name, priority) in [("a", 0.5), ("b", 0.9), ("c", 0.5), ("d", 0.9), ("e", 0.1)] {
            _ = slots.enter("h", priority: Float(priority), name)
        }
        var called: [String] = []
        for _ in 0..<5 { called += slots.release("h", version: nil) }
        #expect(called == ["b", "d", "a", "c", "e"])
    }

    @Test("who leaves the queue is not called; who was called cannot leave it")
    func abandoned() {
        let slots = Slots<String>(limit: 1)
        _ = slots.enter("h", priority: 0.5, "running")
        _ = slots.enter("h", priority: 0.5, "a")
        _ = slots.enter("h", priority: 0.5, "b")
        #expect(slots.abandon("h", ticket: 1))
        #expect(!slots.abandon("h", ticket: 1))
        #expect(slots.release("h", version: nil) == ["b"])
        #expect(!slots.abandon("h", ticket: 2))
    }

    @Test("an origin that multiplexes takes up to a hundred at once")
    func multiplexed() {
        let slots = Slots<Int>(limit: 1)
        _ = slots.enter("h", priority: 0.5, 0)
        for number in 1...200 { _ = slots.enter("h", priority: 0.5, number) }
        #expect(slots.release("h", version: .http2) == Array(1...100))
        #expect(slots.release("h", version: .http2) == [101])
    }

    @Test("as soon as an origin is known to multiplex, more may run, and that is news once")
    func learned() {
        let slots = Slots<Int>(limit: 1)
        for number in 0..<4 { _ = slots.enter("h", priority: 0.5, number) }
        #expect(!slots.learns("h", .http1_1))
        #expect(!slots.learns("h", nil))
        #expect(slots.learns("h", .http2))
        #expect(slots.multiplexes("h") == [1, 2, 3])
        #expect(!slots.learns("h", .http2))
        #expect(slots.release("h", version: .http2) == [])
        #expect(!slots.learns("nobody", .http2))
        #expect(slots.multiplexes("nobody") == [])
    }

    @Test(
        "who needs a connection alone counts among all, and apart from those that share one where the origin multiplexes"
    )
    func alone() {
        let slots = Slots<String>(limit: 2)
        #expect(slots.enter("h", priority: 0.5, "a") == .admitted)
        #expect(slots.enter("h", isAlone: true, priority: 0.5, "A") == .admitted)
        #expect(slots.enter("h", priority: 0.5, "b") == .queued(ticket: 1))
        #expect(slots.enter("h", isAlone: true, priority: 0.5, "B") == .queued(ticket: 2))
        #expect(slots.enter("h", isAlone: true, priority: 0.5, "C") == .queued(ticket: 3))
        #expect(slots.enter("h", isAlone: true, priority: 0.9, "urgent") == .queued(ticket: 4))
        #expect(slots.enter("h", priority: 0.5, "c") == .queued(ticket: 5))
        // One queue in order, until an answer shows more, and what one kind speaks says nothing of the other.
        #expect(slots.release("h", isAlone: true, version: .http1_1) == ["urgent"])
        #expect(!slots.isKnownNotToMultiplex("h"))
        #expect(slots.release("h", isAlone: true, version: .http1_1) == ["b"])
        // Those that share go all at once, of the others as many as before.
        #expect(slots.release("h", version: .http2) == ["B", "C", "c"])
        #expect(slots.enter("h", isAlone: true, priority: 0.5, "D") == .queued(ticket: 6))
        #expect(slots.enter("h", isAlone: true, priority: 0.5, "E") == .queued(ticket: 7))
        #expect(slots.abandon("h", isAlone: true, ticket: 6))
        #expect(slots.release("h", version: .http2) == [])
        #expect(slots.release("h", isAlone: true, version: .http1_1) == ["E"])
    }

    @Test("UPL-497 where HTTP/2 is possible, the first one goes alone until its connection shows the version")
    func first() {
        let slots = Slots<String>(limit: 3)
        #expect(slots.enter("h", mayMultiplex: true, priority: 0.5, "a") == .opens)
        for (number, name) in ["b", "c", "d"].enumerated() {
            #expect(slots.enter("h", mayMultiplex: true, priority: 0.5, name) == .queued(ticket: number + 1))
        }
        // One that shares no connection has nothing to wait for.
        #expect(slots.enter("h", isAlone: true, mayMultiplex: true, priority: 0.5, "A") == .admitted)
        #expect(slots.connected("h", isMultiplexed: false) == ["b"])
        #expect(slots.release("h", version: .http1_1) == ["c"])
        #expect(slots.connected("h", isMultiplexed: false) == [])

        #expect(slots.enter("two", mayMultiplex: true, priority: 0.5, "a") == .opens)
        for number in 1...4 { _ = slots.enter("two", mayMultiplex: true, priority: 0.5, "\(number)") }
        #expect(slots.connected("two", isMultiplexed: true) == ["1", "2", "3", "4"])
        #expect(slots.enter("two", mayMultiplex: true, priority: 0.5, "5") == .admitted)
    }

    @Test("UPL-498 when the streams of a connection are taken, one transfer opens the next, up to the limit")
    func further() {
        let slots = Slots<Int>(limit: 3)
        for number in 0..<400 { _ = slots.enter("h", mayMultiplex: true, priority: 0.5, number) }
        // 1 to 99 share the first connection, and 100 opens another one.
        #expect(slots.connected("h", isMultiplexed: true) == Array(1...100))
        #expect(slots.openers == [100])
        // It found room in the first one after all: nothing is known of a second one.
        #expect(slots.release("h", version: .http2) == [])
        #expect(slots.connected("h", isMultiplexed: true, isNew: false) == [101])
        #expect(slots.openers == [100, 101])
        #expect(slots.connected("h", isMultiplexed: true) == Array(102...201))
        #expect(slots.connected("h", isMultiplexed: true) == Array(202...300))
        // There are three, and no opener any more.
        #expect(slots.openers == [100, 101, 201])
        #expect(slots.release("h", version: .http2) == [301])
    }

    @Test("UPL-495 one that ends without a connection shows nothing: the others go as many as may")
    func firstFailed() {
        let slots = Slots<String>(limit: 2)
        for name in ["a", "b", "c", "d"] { _ = slots.enter("h", mayMultiplex: true, priority: 0.5, name) }
        #expect(slots.release("h", version: nil, opens: true) == ["b", "c"])
        #expect(slots.enter("h", mayMultiplex: true, priority: 0.5, "e") == .queued(ticket: 4))
        #expect(slots.release("h", version: .http1_1) == ["d"])
    }

    @Test("an origin that had the choice and spoke HTTP/1.1 is known not to multiplex, until it does")
    func plain() {
        let slots = Slots<Int>(limit: 2)
        _ = slots.enter("h", priority: 0.5, 0)
        #expect(!slots.isKnownNotToMultiplex("h"))
        _ = slots.release("h", version: nil)
        #expect(!slots.isKnownNotToMultiplex("h"))
        _ = slots.enter("h", priority: 0.5, 1)
        _ = slots.release("h", version: .http1_1)
        #expect(slots.isKnownNotToMultiplex("h"))
        _ = slots.enter("h", priority: 0.5, 2)
        _ = slots.release("h", version: .http2)
        #expect(!slots.isKnownNotToMultiplex("h"))
    }

    @Test("a long queue is admitted in order to its end")
    func long() {
        var queue = PriorityQueue<Int>()
        for number in 0..<1000 { queue.append(number, priority: 0.5, ticket: number + 1) }
        let left = queue.remove(ticket: 500)
        #expect(left)
        var called: [Int] = []
        while let next = queue.popFirst() { called.append(next) }
        #expect(called == Array(0..<1000).filter { $0 != 499 })
        #expect(queue.isEmpty)
    }
}

/// The slots behind methods that a test's expectation may call.
private final class Slots<Item> {
    private var slots: PerHostLimiter<Item>

    init(limit: Int) { slots = PerHostLimiter(limit: limit) }

    func enter(
        _ origin: String, isAlone: Bool = false, mayMultiplex: Bool = false, priority: Float, _ item: Item
    ) -> Admission {
        slots.enter(origin, isAlone: isAlone, mayMultiplex: mayMultiplex, priority: priority, item)
    }
    func release(
        _ origin: String, isAlone: Bool = false, version: HTTPVersion?, opens: Bool = false
    ) -> [Item] {
        items(slots.release(origin, isAlone: isAlone, version: version, opens: opens))
    }
    func learns(_ origin: String, _ version: HTTPVersion?) -> Bool { slots.learns(origin, version) }
    func multiplexes(_ origin: String) -> [Item] { items(slots.multiplexes(origin)) }
    func connected(_ origin: String, isMultiplexed: Bool, isNew: Bool = true) -> [Item] {
        items(slots.connected(origin, isMultiplexed: isMultiplexed, isNew: isNew))
    }

    /// Those that were to open a connection when they left the queue.
    private(set) var openers: [Item] = []

    private func items(_ admitted: [PerHostLimiter<Item>.Admitted]) -> [Item] {
        openers += admitted.filter(\.opens).map(\.item)
        return admitted.map(\.item)
    }
    func abandon(_ origin: String, isAlone: Bool = false, ticket: Int) -> Bool {
        slots.abandon(origin, isAlone: isAlone, ticket: ticket)
    }
    func isKnownNotToMultiplex(_ origin: String) -> Bool { slots.isKnownNotToMultiplex(origin) }
    func forgetIdleHosts() { slots.forgetIdleHosts() }
}
