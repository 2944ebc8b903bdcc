// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Who watches which descriptor, what the kernel has been told about it, and what it has yet to be told.
///
/// Changes of interest are gathered and told just before the wait, so what is taken back within a turn costs no
/// system call. Only the end of a watch is told at once: the number may be closed and given away right after, and
/// a file that lives on elsewhere (a child about to exec) would otherwise report for ever under a number which
/// is no longer ours to remove (epoll(7), "Questions and answers", 6).
///
/// Handlers that are done with are returned and not released in here: what they hold may end other watches on its
/// way out, and must not find the table in use.
struct WatchTable {
    typealias Handler = (Readiness) -> Void

    private struct Slot {
        /// Counts the watches of this number: an event that carries an older count belongs to a former owner.
        var generation: UInt32 = 0
        var wanted: Interest = []
        /// What the kernel watches for; empty when it does not know the descriptor.
        var told: Interest = []
        var isGathered = false
        var handler: Handler?
    }

    /// By descriptor: the kernel gives the lowest free number, so the table is as long as files are open.
    private var slots: ContiguousArray<Slot> = []
    private var gathered: ContiguousArray<Int32> = []

    /// Begins a watch; one that exists ends, as if its descriptor had been closed.
    ///
    /// - Returns: its name, and the handler of the one that existed.
    mutating func add(
        _ descriptor: Int32, _ interest: Interest, _ handler: @escaping Handler, _ poller: inout Poller
    ) throws(ReactorError) -> (watch: WatchID, former: Handler?) {
        guard descriptor >= 0 else { throw ReactorError("watching descriptor \(descriptor)", errno: EBADF) }
        let former = remove(descriptor, &poller)
        while slots.count <= Int(descriptor) { slots.append(Slot()) }
        slots[Int(descriptor)].handler = handler
        want(interest, descriptor)
        return (WatchID(descriptor: descriptor, generation: slots[Int(descriptor)].generation), former)
    }

    /// The number of watches.
    var count: Int { slots.count { $0.handler != nil } }

    /// Whether a watch has not ended.
    func holds(_ watch: WatchID) -> Bool {
        let index = Int(watch.descriptor)
        return slots.indices.contains(index) && slots[index].generation == watch.generation
            && slots[index].handler != nil
    }

    /// Changes what is waited for; nothing happens where nobody watches.
    mutating func want(_ interest: Interest, _ descriptor: Int32) {
        let index = Int(descriptor)
        guard slots.indices.contains(index), slots[index].handler != nil, slots[index].wanted != interest
        else { return }
        slots[index].wanted = interest
        guard !slots[index].isGathered else { return }
        slots[index].isGathered = true
        gathered.append(descriptor)
    }

    /// Ends a watch; nothing happens where nobody watches.
    ///
    /// - Returns: its handler.
    mutating func remove(_ descriptor: Int32, _ poller: inout Poller) -> Handler? {
        let index = Int(descriptor)
        guard slots.indices.contains(index), let handler = slots[index].handler else { return nil }
        // Already closed is as good.
        if !slots[index].told.isEmpty { _ = poller.control(EPOLL_CTL_DEL, descriptor, mask: 0, tag: 0) }
        slots[index].generation &+= 1
        slots[index].wanted = []
        slots[index].told = []
        slots[index].handler = nil
        return handler
    }

    /// Tells the kernel what has been gathered, and ends the watches that it refuses.
    ///
    /// - Returns: the handlers of those.
    mutating func apply(_ poller: inout Poller) -> [Handler] {
        var refused: [Handler] = []
        for descriptor in gathered {
            let index = Int(descriptor)
            slots[index].isGathered = false
            let (told, wanted) = (slots[index].told, slots[index].wanted)
            guard told != wanted else { continue }
            let operation = told.isEmpty ? EPOLL_CTL_ADD : wanted.isEmpty ? EPOLL_CTL_DEL : EPOLL_CTL_MOD
            let failure = poller.control(
                operation, descriptor, mask: wanted.mask, tag: tag(descriptor, slots[index].generation))
            if failure == 0 || operation == EPOLL_CTL_DEL {
                slots[index].told = wanted
            } else if let handler = remove(descriptor, &poller) {
                refused.append(handler)
            }
        }
        gathered.removeAll(keepingCapacity: true)
        return refused
    }

    /// Whom an event concerns; nil where its watch has ended or been parked since it was fetched.
    func recipient(tag: UInt64, mask: UInt32) -> (handler: Handler, readiness: Readiness)? {
        let index = Int(UInt32(truncatingIfNeeded: tag))
        guard index < slots.count, slots[index].generation == UInt32(truncatingIfNeeded: tag >> 32),
            let handler = slots[index].handler, !slots[index].wanted.isEmpty
        else { return nil }
        let readiness = Readiness(mask: mask, interest: slots[index].wanted)
        return readiness.isEmpty ? nil : (handler, readiness)
    }

    /// What an event of this watch carries.
    private func tag(_ descriptor: Int32, _ generation: UInt32) -> UInt64 {
        UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor))
    }
}
