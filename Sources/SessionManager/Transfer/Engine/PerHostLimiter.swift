// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// How many transfers run per origin, and which ones wait: the limit of connections per host, decided without
/// I/O.
///
/// Over HTTP/1.1 a transfer needs a connection of its own. Over HTTP/2 or 3 many share one, as many as
/// servers usually allow (100 streams, RFC 9113 §6.5.2), except for transfers that must not share theirs. One
/// transfer opens a further connection, and the others wait until it is made and shows what is spoken:
/// libcurl would open one for each of a thousand that begin at once.
struct PerHostLimiter<Waiting>: ~Copyable {
    /// A transfer that has a slot now.
    struct Admitted {
        let item: Waiting
        /// Whether others wait for its connection, which ``connected(_:isMultiplexed:isNew:)`` is to tell of.
        let opens: Bool
    }

    /// Transfers that share connections where they can, or those that do not.
    private struct Kind {
        var active = 0
        var queue = PriorityQueue<Waiting>()
    }

    /// One origin; an object, so that its queues are changed in place.
    private final class Host {
        var sharing = Kind()
        var alone = Kind()
        /// Nil until a connection or an answer has shown it.
        var isMultiplexed: Bool?
        /// Whether its next connection shows it.
        var isToShow: Bool
        /// How many connections are shared, as far as is known.
        var connections = 0
        /// Whether one of those that share opens a further connection.
        var isOpening = false
        /// Both queues share one order.
        var tickets = 0

        init(mayMultiplex: Bool) { isToShow = mayMultiplex }

        subscript(isAlone isAlone: Bool) -> Kind {
            _read { if isAlone { yield alone } else { yield sharing } }
            _modify { if isAlone { yield &alone } else { yield &sharing } }
        }

        /// Of both kinds.
        var active: Int { sharing.active + alone.active }
        var hasWaiting: Bool { !sharing.queue.isEmpty || !alone.queue.isEmpty }
        var isIdle: Bool { active == 0 && !hasWaiting }
        /// Whether those that share wait for each other's connections.
        var isShared: Bool { isMultiplexed == true || isToShow }

        func multiplexes() {
            (isMultiplexed, isToShow) = (true, false)
            connections = max(connections, 1)
        }
    }

    /// How many connections an origin may have; once it is known to multiplex, those that share none have as
    /// many beside the shared ones.
    let limit: Int
    private let streams = 100
    private var hosts = SmallMap<String, Host>()
    /// The host of the last call: mostly the next call is about the same.
    private var recent: (origin: String, host: Host)?

    init(limit: Int) { self.limit = max(1, limit) }

    /// A slot for a transfer, or a ticket of the queue.
    ///
    /// - Parameters:
    ///   - isAlone: Whether the transfer shares its connection with no other, whatever the origin speaks.
    ///   - mayMultiplex: Whether the origin may turn out to speak HTTP/2, and
    ///     ``connected(_:isMultiplexed:isNew:)`` will tell.
    mutating func enter(
        _ origin: String, isAlone: Bool, mayMultiplex: Bool = false, priority: Float,
        _ item: @autoclosure () -> Waiting
    ) -> Admission {
        let host = self.host(origin) ?? add(origin, mayMultiplex)
        if hasRoom(host, isAlone) { return admit(host, isAlone) ? .opens : .admitted }
        host.tickets += 1
        host[isAlone: isAlone].queue.append(item(), priority: priority, ticket: host.tickets)
        return .queued(ticket: host.tickets)
    }

    /// Gives a slot back.
    ///
    /// - Parameter opens: Whether others still wait for its connection.
    /// - Returns: the transfers that have a slot now: none, one, or many where the origin turned out to
    ///   multiplex.
    mutating func release(
        _ origin: String, isAlone: Bool, version: HTTPVersion?, opens: Bool = false
    ) -> [Admitted] {
        guard let host = self.host(origin) else { return [] }
        host[isAlone: isAlone].active -= 1
        if opens {
            host.isOpening = false
            // It has shown nothing, and where it failed, others would fail one after the other.
            host.isToShow = false
        }
        if let version, !isAlone {
            host.isToShow = false
            if version.isMultiplexed {
                host.multiplexes()
            } else if host.isMultiplexed == nil {
                host.isMultiplexed = false
            }
        }
        // Of connections without a transfer some may be closed.
        if host.sharing.active == 0 { host.connections = min(host.connections, 1) }
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
    mutating func multiplexes(_ origin: String) -> [Admitted] {
        guard let host = self.host(origin) else { return [] }
        host.multiplexes()
        return admitWaiting(host)
    }

    /// A transfer for whose connection others wait has one.
    ///
    /// - Parameters:
    ///   - isMultiplexed: Whether it speaks HTTP/2; false also where that cannot be known.
    ///   - isNew: Whether it was made for this transfer.
    /// - Returns: the transfers that have a slot now.
    mutating func connected(_ origin: String, isMultiplexed: Bool, isNew: Bool) -> [Admitted] {
        guard let host = self.host(origin) else { return [] }
        host.isOpening = false
        host.isToShow = false
        if isMultiplexed || host.isMultiplexed == true {
            if isNew { host.connections += 1 }
            host.multiplexes()
        }
        return admitWaiting(host)
    }

    /// Whether the origin had the choice, and answered by HTTP/1.1.
    mutating func isKnownNotToMultiplex(_ origin: String) -> Bool { host(origin)?.isMultiplexed == false }

    private func admitWaiting(_ host: Host) -> [Admitted] {
        guard host.hasWaiting else { return [] }
        var next: [Admitted] = []
        while let isAlone = nextKind(host), let item = host[isAlone: isAlone].queue.popFirst() {
            next.append(Admitted(item: item, opens: admit(host, isAlone)))
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

    private mutating func add(_ origin: String, _ mayMultiplex: Bool) -> Host {
        let new = Host(mayMultiplex: mayMultiplex)
        hosts.insert(new, for: origin)
        recent = (origin, new)
        return new
    }

    private func hasRoom(_ host: Host, _ isAlone: Bool) -> Bool {
        guard host.isMultiplexed == true else {
            return host.active < limit && (isAlone || !host.isShared || !host.isOpening)
        }
        if isAlone { return host.alone.active < limit }
        if host.sharing.active < host.connections * streams { return true }
        return !host.isOpening && host.connections < limit
    }

    /// Gives a slot; true where the others wait for the connection.
    private func admit(_ host: Host, _ isAlone: Bool) -> Bool {
        host[isAlone: isAlone].active += 1
        guard !isAlone, host.isShared, host.sharing.active > host.connections * streams else { return false }
        host.isOpening = true
        return true
    }
}

extension HTTPVersion {
    /// Whether one connection carries many requests at once.
    fileprivate var isMultiplexed: Bool { self == .http2 || self == .http3 }
}

/// The limiter's answer to a transfer that wants to run.
enum Admission: Equatable {
    case admitted
    /// It has a slot, and others wait for its connection.
    case opens
    case queued(ticket: Int)
}
