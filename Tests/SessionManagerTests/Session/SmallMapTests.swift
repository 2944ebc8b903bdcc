// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SessionManager

struct SmallMapTests {
    @Test("holds what a dictionary would, in the order of the numbers", arguments: 1...20)
    func asDictionary(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var items = SmallMap<Int, String>()
        var model: [Int: String] = [:]
        var next = 0
        for step in 0..<400 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                // Mostly the next, now and then one that was overtaken.
                next += Int.random(in: 1...3, using: &random)
                let number = step.isMultiple(of: 5) ? max(0, next - 5) : next
                model[number] = "\(number) at \(step)"
                items.insert("\(number) at \(step)", for: number)
            case 4..<9:
                let number = Int.random(in: 0...next, using: &random)
                model[number] = nil
                items.remove(number)
            default:
                guard let oldest = model.keys.min() else { continue }
                model[oldest] = nil
                items.remove(oldest)
            }
            let number = Int.random(in: 0...next, using: &random)
            let (found, expected) = (items[number], model[number])
            #expect(found == expected)
            let (count, isEmpty, all) = (items.count, items.isEmpty, items.all)
            #expect(count == model.count && isEmpty == model.isEmpty)
            #expect(all == model.sorted { $0.key < $1.key }.map(\.value))
        }
    }

    @Test("what is taken out is let go at once")
    func released() {
        final class Thing {}
        var items = SmallMap<Int, Thing>()
        weak var gone: Thing?
        do {
            let thing = Thing()
            gone = thing
            items.insert(Thing(), for: 1)
            items.insert(thing, for: 2)
            items.insert(Thing(), for: 3)
        }
        #expect(gone != nil)
        items.remove(2)
        #expect(gone == nil)
    }
}

struct DeferredReleasesTests {
    @Test("nothing is let go of before a few have come together, and then all")
    func together() {
        var items = DeferredReleases<Int>()
        for number in 1...5 {
            items.add(number)
            #expect(items.removeDue(all: false).isEmpty)
        }
        items.add(6)
        #expect(items.removeDue(all: false) == [1, 2, 3, 4, 5, 6])
        #expect(items.removeDue(all: true).isEmpty)
    }

    @Test("the last ones go when asked for")
    func last() {
        var items = DeferredReleases<Int>()
        items.add(1)
        #expect(items.removeDue(all: true) == [1])
    }

    @Test("room that was lent back is empty, and no more than the limit wait in it")
    func limit() {
        var items = DeferredReleases<Int>()
        for _ in 0..<3 {
            for number in 0..<1000 { items.add(number) }
            var removed = items.removeDue(all: false)
            #expect(removed == Array(0..<DeferredReleases<Int>.limit))
            removed.removeAll(keepingCapacity: true)
            items.reuse(removed)
        }
        #expect(items.removeDue(all: true).isEmpty)
    }
}
