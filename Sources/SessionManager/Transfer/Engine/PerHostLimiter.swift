// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// How many transfers run per origin, and which ones wait: the limit of connections per host, decided without
/// I/O.
///
/// Over HTTP/1.1 a transfer needs a connection of its own. An origin that has answered by HTTP/2 or 3 carries
/// many over one connection, so the limit is lifted there to what servers usually allow (100 streams, RFC
/// 9113 §6.5.2), except for transfers that must not share their connection.
struct PerHostLimiter<Waiting>: ~Copyable {
    /// Transfers that share connections where they can, or those that do not.
    private struct Kind {
        var active = 0
        var queue = PriorityQueue<Waiting>()
    }

    /// One origin; an object, so that its queues are changed in place.
    private final class Host {
        var sharing = Kind()
        var alone = Kind()
        /// Nil until an answer has shown it.
        var isMultiplexed: Bool?
        /// Both queues share one order.
        var tickets = 0

        subscript(isAlone isAlone: Bool) -> Kind {
            _read { if isAlone { yield alone } else { yield sharing } }
            _modify { if isAlone { yield &alone } else { yield &sharing } }
        }

        /// Of both kinds.
        var active: Int { sharing.active + alone.active }
        var hasWaiting: Bool { !sharing.queue.isEmpty || !alone.queue.isEmpty }
        var isIdle: Bool { active == 0 && !hasWaiting }
    }

    /// How many transfers may run on an origin that speaks HTTP/1.1.
    let limit: Int
    private let multiplexedLimit = 100
    private var hosts = SmallMap<String, Host>()
    /// The host of the last call: mostly the next call is about the same.
    private var recent: (origin: String, host: Host)?

    init(limit: Int) { self.limit = max(1, limit) }

    /// A slot for a transfer, or a ticket of the queue.
    ///
    /// - Parameter isAlone: Whether the transfer shares its connection with no other, whatever the origin
    ///   speaks.
    mutating func enter(
        _ origin: String, isAlone: Bool, priority: Float, _ item: @autoclosure () -> Waiting
    ) -> Admission {
        let host = self.host(origin) ?? add(origin)
        if hasRoom(host, isAlone) {
            host[isAlone: isAlone].active += 1
            return .admitted
        }
        host.tickets += 1
        host[isAlone: isAlone].queue.append(item(), priority: priority, ticket: host.tickets)
        return .queued(ticket: host.tickets)
    }

    /// Gives a slot back.
    ///
    /// - Returns: the transfers that have a slot now: none, one, or many where the origin turned out to
    ///   multiplex.
    mutating func leave(_ origin: String, isAlone: Bool, version: HTTPVersion?) -> [Waiting] {
        guard let host = self.host(origin) else { return [] }
        host[isAlone: isAlone].active -= 1
        if let version, !isAlone { host.isMultiplexed = version.isMultiplexed || host.isMultiplexed == true }
        return admitWaiting(host)
    }

    /// Whether an answer of this version shows something new: that the origin multiplexes.
    mutating func learns(_ origin: String, _ version: HTTPVersion?) -> Bool {
        guard version?.isMultiplexed == true, let host = host(origin) else { return false }
        return host.isMultiplexed != true
    }

    /// Lifts the limit of an origin, whose first answer has begun.
    ///
    /// - Returns: the transfers that have a slot now.
    mutating func multiplexes(_ origin: String) -> [Waiting] {
        guard let host = self.host(origin) else { return [] }
        host.isMultiplexed = true
        return admitWaiting(host)
    }

    /// Whether the origin had the choice, and answered by HTTP/1.1.
    mutating func isKnownNotToMultiplex(_ origin: String) -> Bool { host(origin)?.isMultiplexed == false }

    private func admitWaiting(_ host: Host) -> [Waiting] {
        guard host.hasWaiting else { return [] }
        var next: [Waiting] = []
        while let isAlone = nextKind(host), let item = host[isAlone: isAlone].queue.popFirst() {
            host[isAlone: isAlone].active += 1
            next.append(item)
        }
        return next
    }

    /// Whether the next transfer with room is one that is alone; nil where none has room.
    private func nextKind(_ host: Host) -> Bool? {
        let sharing = hasRoom(host, false) ? host.sharing.queue.first : nil
        guard let alone = hasRoom(host, true) ? host.alone.queue.first : nil else {
            return sharing == nil ? nil : false
        }
        guard let sharing else { return true }
        return (-alone.priority, alone.ticket) < (-sharing.priority, sharing.ticket)
    }

    /// Leaves the queue; false where the ticket has been admitted.
    mutating func abandon(_ origin: String, isAlone: Bool, ticket: Int) -> Bool {
        guard let host = host(origin) else { return false }
        return host[isAlone: isAlone].queue.remove(ticket: ticket)
    }

    /// Forgets unused origins where there are many: a program may speak to a new host with each request.
    mutating func forgetIdleHosts() {
        guard hosts.count > 256 else { return }
        hosts.removeAll { $0.isIdle }
        recent = nil
    }

    private mutating func host(_ origin: String) -> Host? {
        if let recent, recent.origin == origin { return recent.host }
        guard let host = hosts[origin] else { return nil }
        recent = (origin, host)
        return host
    }

    private mutating func add(_ origin: String) -> Host {
        let new = Host()
        hosts.insert(new, for: origin)
        recent = (origin, new)
        return new
    }

    private func hasRoom(_ host: Host, _ isAlone: Bool) -> Bool {
        guard host.isMultiplexed == true else { return host.active < limit }
        return host[isAlone: isAlone].active < (isAlone ? limit : max(limit, multiplexedLimit))
    }
}

extension HTTPVersion {
    /// Whether one connection carries many requests at once.
    fileprivate var isMultiplexed: Bool { self == .http2 || self == .http3 }
}

/// The limiter's answer to a transfer that wants to run.
enum Admission: Equatable {
    case admitted
    case queued(ticket: Int)
}
