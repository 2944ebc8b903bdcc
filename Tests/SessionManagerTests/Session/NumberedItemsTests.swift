// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SessionManager

struct NumberedItemsTests {
    @Test("holds what a dictionary would, in the order of the numbers", arguments: 1...20)
    func asDictionary(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var items = NumberedItems<String>()
        var model: [Int: String] = [:]
        var next = 0
        for step in 0..<400 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                // Mostly the next, now and then one that was overtaken.
                next += Int.random(in: 1...3, using: &random)
                let number = step.isMultiple(of: 5) ? max(0, next - 5) : next
                model[number] = "\(number) at \(step)"
                items.add("\(number) at \(step)", number)
            case 4..<9:
                let number = Int.random(in: 0...next, using: &random)
                model[number] = nil
                items.remove(number)
            default:
                guard let oldest = model.keys.min() else { continue }
                model[oldest] = nil
                items.remove(oldest)
            }
            let (count, isEmpty, all) = (items.count, items.isEmpty, items.all)
            #expect(count == model.count && isEmpty == model.isEmpty)
            #expect(all == model.sorted { $0.key < $1.key }.map(\.value))
        }
    }

    @Test("what is taken out is let go at once")
    func released() {
        final class Thing {}
        var items = NumberedItems<Thing>()
        weak var gone: Thing?
        do {
            let thing = Thing()
            gone = thing
            items.add(Thing(), 1)
            items.add(thing, 2)
            items.add(Thing(), 3)
        }
        #expect(gone != nil)
        items.remove(2)
        #expect(gone == nil)
    }
}
