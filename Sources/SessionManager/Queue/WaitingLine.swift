// SPDX-License-Identifier: Apache-2.0

/// Who waits for a place: the more urgent first, then in order of their coming.
struct WaitingLine<Item> {
    private struct Place {
        let priority: Float
        let ticket: Int
        var item: Item?
    }

    /// Those before `head` have been called, those without an item have left.
    private var places: ContiguousArray<Place> = []
    private var head = 0
    private var count = 0

    init() {}

    var isEmpty: Bool { count == 0 }

    /// Takes a place; the ticket, which is greater than all before, serves to leave it.
    mutating func append(_ item: Item, priority: Float, ticket: Int) {
        count += 1
        let place = Place(priority: priority, ticket: ticket, item: item)
        // Mostly all are equally urgent, and then this looks at the last one alone.
        var index = places.endIndex
        while index > head, places[index - 1].priority < priority { index -= 1 }
        places.insert(place, at: index)
    }

    /// The place of the one that is called next.
    var first: (priority: Float, ticket: Int)? {
        guard count > 0, let place = places[head...].first(where: { $0.item != nil }) else { return nil }
        return (place.priority, place.ticket)
    }

    /// Calls the next one.
    mutating func popFirst() -> Item? {
        while head < places.count {
            let item = places[head].item.take()
            head += 1
            guard let item else { continue }
            count -= 1
            compact()
            return item
        }
        places.removeAll(keepingCapacity: true)
        head = 0
        return nil
    }

    /// Leaves; false where the ticket has been called, or has left, already.
    mutating func remove(ticket: Int) -> Bool {
        guard let index = places[head...].firstIndex(where: { $0.ticket == ticket }),
            places[index].item.take() != nil
        else { return false }
        count -= 1
        return true
    }

    /// Gives the room of those who have been called back now and then, which costs each of them one move at most.
    private mutating func compact() {
        guard head > 64, head * 2 > places.count else { return }
        places.removeFirst(head)
        head = 0
    }
}
