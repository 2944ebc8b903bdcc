// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// The handlers of watched descriptors, the interests that the kernel has, and those still to be applied.
///
/// Changes of interest are applied together before the wait, so a change undone within a turn costs no system
/// call. A watch ends at once: a file that stays open elsewhere (a child about to exec) would else report
/// for ever under a number that cannot be removed any more (epoll(7), "Questions and answers", 6). Ended
/// handlers are returned and not released, since that may end other watches while the table is in use.
struct WatchTable {
    typealias Handler = (Readiness) -> Void

    private struct Slot {
        /// Counts the watches of this number; an event with an older count belongs to an ended watch.
        var generation: UInt32 = 0
        var wanted: Interest = []
        /// The interest that the kernel has; empty if the descriptor is not in the epoll instance.
        var applied: Interest = []
        var isGathered = false
        /// Whether a watch that the kernel has no memory for is tried again.
        var isRetried = false
        var handler: Handler?
    }

    /// Indexed by descriptor: the kernel assigns the lowest free number, so the table stays short.
    private var slots: ContiguousArray<Slot> = []
    private var gathered: ContiguousArray<Int32> = []
    /// Watches that the kernel had no memory for, until they are tried again.
    private var postponed: ContiguousArray<Int32> = []

    /// Adds a watch, and ends an existing one of the number, whose handler is `former`.
    mutating func add(
        _ descriptor: Int32, _ interest: Interest, retrying: Bool, _ handler: @escaping Handler,
        _ poller: inout Poller
    ) throws(ReactorError) -> (watch: WatchID, former: Handler?) {
        guard descriptor >= 0 else { throw ReactorError("watching descriptor \(descriptor)", errno: EBADF) }
        let former = remove(descriptor, &poller)
        while slots.count <= Int(descriptor) { slots.append(Slot()) }
        slots[Int(descriptor)].handler = handler
        slots[Int(descriptor)].isRetried = retrying
        want(interest, descriptor)
        return (WatchID(descriptor: descriptor, generation: slots[Int(descriptor)].generation), former)
    }

    var count: Int { slots.count { $0.handler != nil } }

    /// Whether a watch has not ended.
    func holds(_ watch: WatchID) -> Bool {
        let index = Int(watch.descriptor)
        return slots.indices.contains(index) && slots[index].generation == watch.generation
            && slots[index].handler != nil
    }

    /// Changes the interest; ignored without a watch.
    mutating func want(_ interest: Interest, _ descriptor: Int32) {
        let index = Int(descriptor)
        guard slots.indices.contains(index), slots[index].handler != nil, slots[index].wanted != interest
        else { return }
        slots[index].wanted = interest
        gather(descriptor)
    }

    private mutating func gather(_ descriptor: Int32) {
        guard !slots[Int(descriptor)].isGathered else { return }
        slots[Int(descriptor)].isGathered = true
        gathered.append(descriptor)
    }

    /// Ends a watch and returns its handler; ignored without one.
    mutating func remove(_ descriptor: Int32, _ poller: inout Poller) -> Handler? {
        let index = Int(descriptor)
        guard slots.indices.contains(index), let handler = slots[index].handler else { return nil }
        // An error means that the descriptor is closed already.
        if !slots[index].applied.isEmpty { _ = poller.control(EPOLL_CTL_DEL, descriptor, mask: 0, tag: 0) }
        slots[index].generation &+= 1
        slots[index].wanted = []
        slots[index].applied = []
        slots[index].handler = nil
        return handler
    }

    /// Applies the gathered changes, ends the watches that the kernel refuses, and returns their handlers.
    mutating func apply(_ poller: inout Poller) -> [Handler] {
        var refused: [Handler] = []
        for descriptor in gathered {
            let index = Int(descriptor)
            slots[index].isGathered = false
            let (applied, wanted) = (slots[index].applied, slots[index].wanted)
            guard applied != wanted else { continue }
            let operation = applied.isEmpty ? EPOLL_CTL_ADD : wanted.isEmpty ? EPOLL_CTL_DEL : EPOLL_CTL_MOD
            let failure = poller.control(
                operation, descriptor, mask: wanted.mask, tag: tag(descriptor, slots[index].generation))
            if failure == 0 || operation == EPOLL_CTL_DEL {
                slots[index].applied = wanted
            } else if slots[index].isRetried, failure != EPERM, failure != EBADF {
                postponed.append(descriptor)
            } else if let handler = remove(descriptor, &poller) {
                refused.append(handler)
            }
        }
        gathered.removeAll(keepingCapacity: true)
        return refused
    }

    /// Whether watches are postponed.
    var hasPostponed: Bool { !postponed.isEmpty }

    /// Applies the postponed changes before the next wait; those of ended watches have no effect.
    mutating func retryPostponed() {
        for descriptor in postponed { gather(descriptor) }
        postponed.removeAll()
    }

    /// The handler of an event; nil if its watch has ended or been parked since the event was fetched.
    func recipient(tag: UInt64, mask: UInt32) -> (handler: Handler, readiness: Readiness)? {
        let index = Int(UInt32(truncatingIfNeeded: tag))
        guard index < slots.count, slots[index].generation == UInt32(truncatingIfNeeded: tag >> 32),
            let handler = slots[index].handler, !slots[index].wanted.isEmpty
        else { return nil }
        let readiness = Readiness(mask: mask, interest: slots[index].wanted)
        return readiness.isEmpty ? nil : (handler, readiness)
    }

    /// The tag of this watch's events.
    private func tag(_ descriptor: Int32, _ generation: UInt32) -> UInt64 {
        UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor))
    }
}

/// Identifies one watch of a descriptor, and no later watch of the same number.
package struct WatchID: Sendable, Equatable {
    let descriptor: Int32
    let generation: UInt32
}
