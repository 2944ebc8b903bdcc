// SPDX-License-Identifier: Apache-2.0

/// Identifies a timer of one loop; invalid once the timer has fired or been cancelled.
package struct TimerID: Sendable, Equatable {
    let slot: Int32
    let generation: UInt32
}

/// Timers in the order of their deadlines; equal deadlines in the order they were set.
///
/// A binary heap whose entries know their index, so that cancelling and moving cost a few swaps and leave
/// nothing behind: request time-outs are nearly always cancelled, and would pile up.
struct TimerHeap {
    typealias Work = () -> Void

    private struct Entry {
        var deadline: Int64
        var order: UInt64
        var slot: Int32

        func isBefore(_ other: Entry) -> Bool {
            deadline < other.deadline || (deadline == other.deadline && order < other.order)
        }
    }

    private struct Slot {
        var generation: UInt32 = 0
        /// The index in the heap while set; else the next free slot (-1: none).
        var index: Int32 = -1
        var work: Work?
    }

    private var heap: ContiguousArray<Entry> = []
    private var slots: ContiguousArray<Slot> = []
    private var free: Int32 = -1
    /// Incremented with every timer set or moved.
    private(set) var order: UInt64 = 0

    /// The next deadline.
    var deadline: Int64? { heap.first?.deadline }
    var count: Int { heap.count }

    mutating func add(at deadline: Int64, _ work: @escaping Work) -> TimerID {
        if free < 0 {
            free = Int32(slots.count)
            slots.append(Slot())
        }
        let slot = free
        free = slots[Int(slot)].index
        slots[Int(slot)].work = work
        heap.append(Entry(deadline: deadline, order: order, slot: slot))
        order += 1
        rise(from: heap.count - 1)
        return TimerID(slot: slot, generation: slots[Int(slot)].generation)
    }

    /// Moves a timer; false if it has fired or been cancelled.
    mutating func move(_ timer: TimerID, to deadline: Int64) -> Bool {
        guard let index = index(of: timer) else { return false }
        heap[index].deadline = deadline
        heap[index].order = order
        order += 1
        sift(index)
        return true
    }

    /// Removes a timer; returns its work, whose release may cancel other timers, or nil if there is none.
    mutating func remove(_ timer: TimerID) -> Work? { index(of: timer).flatMap { removeEntry($0) } }

    /// Removes the next timer that is due, if it was set before the `limit`th.
    mutating func next(due now: Int64, before limit: UInt64) -> Work? {
        guard let first = heap.first, first.deadline <= now, first.order < limit else { return nil }
        return removeEntry(0)
    }

    private func index(of timer: TimerID) -> Int? {
        let slot = Int(timer.slot)
        guard slots.indices.contains(slot), slots[slot].generation == timer.generation,
            slots[slot].work != nil
        else { return nil }
        return Int(slots[slot].index)
    }

    private mutating func removeEntry(_ index: Int) -> Work? {
        let slot = heap[index].slot
        let last = heap.removeLast()
        if index < heap.count {
            heap[index] = last
            sift(index)
        }
        let work = slots[Int(slot)].work
        slots[Int(slot)].work = nil
        slots[Int(slot)].generation &+= 1
        slots[Int(slot)].index = free
        free = slot
        return work
    }

    private mutating func sift(_ index: Int) {
        rise(from: index)
        sink(from: index)
    }

    private mutating func rise(from start: Int) {
        var index = start
        let entry = heap[index]
        while index > 0 {
            let parent = (index - 1) / 2
            guard entry.isBefore(heap[parent]) else { break }
            put(heap[parent], at: index)
            index = parent
        }
        put(entry, at: index)
    }

    private mutating func sink(from start: Int) {
        var index = start
        let entry = heap[index]
        while true {
            var child = 2 * index + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
            guard heap[child].isBefore(entry) else { break }
            put(heap[child], at: index)
            index = child
        }
        put(entry, at: index)
    }

    private mutating func put(_ entry: Entry, at index: Int) {
        heap[index] = entry
        slots[Int(entry.slot)].index = Int32(index)
    }
}
