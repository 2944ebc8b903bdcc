// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SessionManager

struct ReturnedItemsTests {
    @Test("nothing is let go of before a few have come together, and then all")
    func together() {
        var items = ReturnedItems<Int>()
        for number in 1...5 {
            items.add(number)
            #expect(items.take(all: false).isEmpty)
        }
        items.add(6)
        #expect(items.take(all: false) == [1, 2, 3, 4, 5, 6])
        #expect(items.take(all: true).isEmpty)
    }

    @Test("the last ones go when asked for")
    func last() {
        var items = ReturnedItems<Int>()
        items.add(1)
        #expect(items.take(all: true) == [1])
    }

    @Test("room that was lent back is empty, and no more than the limit wait in it")
    func limit() {
        var items = ReturnedItems<Int>()
        for _ in 0..<3 {
            for number in 0..<1000 { items.add(number) }
            var taken = items.take(all: false)
            #expect(taken == Array(0..<ReturnedItems<Int>.limit))
            taken.removeAll(keepingCapacity: true)
            items.lend(taken)
        }
        #expect(items.take(all: true).isEmpty)
    }
}
