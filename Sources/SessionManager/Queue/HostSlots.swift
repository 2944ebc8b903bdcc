// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import SessionCore

/// How many transfers run per origin, and who waits: the limit of connections per host, decided without I/O.
///
/// Over HTTP/1.1 a transfer needs a connection of its own. An origin that has answered by HTTP/2 or 3 carries many
/// over one, so the limit is lifted there to what servers usually allow (100 streams, RFC 9113 §6.5.2), for all but those
/// that have to be alone on theirs.
struct HostSlots<Waiting>: ~Copyable {
    /// Transfers of one kind: of those that share connections where they can, or of those that do not.
    private struct Kind {
        var active = 0
        var queue = WaitingLine<Waiting>()
    }

    /// One origin; an object, so that its queues are changed where they are.
    private final class Host {
        var sharing = Kind()
        var alone = Kind()
        /// Nil until an answer has told.
        var isMultiplexed: Bool?
        /// Both queues have one order.
        var tickets = 0

        subscript(isAlone isAlone: Bool) -> Kind {
            _read { if isAlone { yield alone } else { yield sharing } }
            _modify { if isAlone { yield &alone } else { yield &sharing } }
        }

        /// Of both kinds.
        var active: Int { sharing.active + alone.active }
        /// Whether somebody waits.
        var isAwaited: Bool { !sharing.queue.isEmpty || !alone.queue.isEmpty }
        /// Whether nobody runs, and nobody waits.
        var isIdle: Bool { active == 0 && !isAwaited }
    }

    /// How many transfers may run on an origin that speaks HTTP/1.1.
    let limit: Int
    private let multiplexedLimit = 100
    // By name; few, and found by halves: see NumberedItems for what a dictionary would cost.
    private var hosts: [(origin: String, host: Host)] = []
    /// The last one asked about: mostly it is asked about again.
    private var recent: (origin: String, host: Host)?

    init(limit: Int) { self.limit = max(1, limit) }

    /// A place for a transfer, or a place in the queue with a ticket to leave it.
    ///
    /// - Parameter isAlone: Whether it shares its connection with no other, whatever the origin speaks.
    mutating func enter(
        _ origin: String, isAlone: Bool, priority: Float, _ item: @autoclosure () -> Waiting
    ) -> SlotAnswer {
        let host = self.host(origin) ?? add(origin)
        if hasPlace(host, isAlone) {
            host[isAlone: isAlone].active += 1
            return .admitted
        }
        host.tickets += 1
        host[isAlone: isAlone].queue.append(item(), priority: priority, ticket: host.tickets)
        return .queued(ticket: host.tickets)
    }

    /// Gives a place back.
    ///
    /// - Returns: those who may run now: none, one, or many where the origin turned out to multiplex.
    mutating func leave(_ origin: String, isAlone: Bool, version: HTTPVersion?) -> [Waiting] {
        guard let host = self.host(origin) else { return [] }
        host[isAlone: isAlone].active -= 1
        if let version, !isAlone { host.isMultiplexed = version.isMultiplexed || host.isMultiplexed == true }
        return call(host)
    }

    /// Whether an answer of this version says something new of the origin: that it multiplexes.
    mutating func learns(_ origin: String, _ version: HTTPVersion?) -> Bool {
        guard version?.isMultiplexed == true, let host = host(origin) else { return false }
        return host.isMultiplexed != true
    }

    /// An origin multiplexes: its first answer has begun.
    ///
    /// - Returns: those who may run now.
    mutating func multiplexes(_ origin: String) -> [Waiting] {
        guard let host = self.host(origin) else { return [] }
        host.isMultiplexed = true
        return call(host)
    }

    /// Whether the origin had the choice, and answered by HTTP/1.1.
    mutating func isKnownNotToMultiplex(_ origin: String) -> Bool { host(origin)?.isMultiplexed == false }

    /// Those of the lines for whom there is a place.
    private func call(_ host: Host) -> [Waiting] {
        guard host.isAwaited else { return [] }
        var next: [Waiting] = []
        while let isAlone = first(host), let item = host[isAlone: isAlone].queue.popFirst() {
            host[isAlone: isAlone].active += 1
            next.append(item)
        }
        return next
    }

    /// The kind of the one that is called next; nil where nobody waits that has a place.
    private func first(_ host: Host) -> Bool? {
        let sharing = hasPlace(host, false) ? host.sharing.queue.first : nil
        guard let alone = hasPlace(host, true) ? host.alone.queue.first : nil else {
            return sharing == nil ? nil : false
        }
        guard let sharing else { return true }
        return (-alone.priority, alone.ticket) < (-sharing.priority, sharing.ticket)
    }

    /// Leaves the queue; false when the ticket has been called already.
    mutating func abandon(_ origin: String, isAlone: Bool, ticket: Int) -> Bool {
        guard let host = host(origin) else { return false }
        return host[isAlone: isAlone].queue.remove(ticket: ticket)
    }

    /// Forgets origins that nobody uses, when there are many: a program may speak to a new host with each request.
    mutating func forgetIdleHosts() {
        guard hosts.count > 256 else { return }
        hosts.removeAll { $0.host.isIdle }
        recent = nil
    }

    private mutating func host(_ origin: String) -> Host? {
        if let recent, recent.origin == origin { return recent.host }
        let place = place(of: origin)
        guard place < hosts.count, hosts[place].origin == origin else { return nil }
        recent = hosts[place]
        return hosts[place].host
    }

    private mutating func add(_ origin: String) -> Host {
        let new = (origin: origin, host: Host())
        hosts.insert(new, at: place(of: origin))
        recent = new
        return new.host
    }

    /// Where an origin is, or would be.
    private func place(of origin: String) -> Int {
        hosts.indices.partitioningIndex { hosts[$0].origin >= origin }
    }

    private func hasPlace(_ host: Host, _ isAlone: Bool) -> Bool {
        guard host.isMultiplexed == true else { return host.active < limit }
        return host[isAlone: isAlone].active < (isAlone ? limit : max(limit, multiplexedLimit))
    }
}

extension HTTPVersion {
    /// Whether one connection carries many requests at once.
    fileprivate var isMultiplexed: Bool { self == .http2 || self == .http3 }
}

/// What a transfer that wants to run is told.
enum SlotAnswer: Equatable {
    case admitted
    case queued(ticket: Int)
}
