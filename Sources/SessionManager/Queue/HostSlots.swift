// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// How many transfers run per origin, and who waits: the limit of connections per host, decided without I/O.
///
/// Over HTTP/1.1 a transfer needs a connection of its own. An origin that has answered by HTTP/2 or 3 carries many
/// over one, so the limit is lifted there to what servers usually allow (100 streams, RFC 9113 §6.5.2).
struct HostSlots<Waiting>: ~Copyable {
    /// One origin; an object, so that its queue is changed where it is.
    private final class Host {
        var active = 0
        var isMultiplexed = false
        var queue = WaitingLine<Waiting>()
    }

    /// How many transfers may run on an origin that speaks HTTP/1.1.
    let limit: Int
    private let multiplexedLimit = 100
    private var hosts: [String: Host] = [:]
    /// The last one asked about: mostly it is asked about again.
    private var recent: (origin: String, host: Host)?

    init(limit: Int) { self.limit = max(1, limit) }

    /// A place for a transfer, or a place in the queue with a ticket to leave it.
    mutating func enter(_ origin: String, priority: Float, _ item: @autoclosure () -> Waiting) -> SlotAnswer {
        let host = self.host(origin) ?? add(origin)
        if host.active < bound(host) {
            host.active += 1
            return .admitted
        }
        return .queued(ticket: host.queue.append(item(), priority: priority))
    }

    /// Gives a place back.
    ///
    /// - Returns: those who may run now: none, one, or many where the origin turned out to multiplex.
    mutating func leave(_ origin: String, version: HTTPVersion?) -> [Waiting] {
        guard let host = self.host(origin) else { return [] }
        host.active -= 1
        if version?.isMultiplexed == true { host.isMultiplexed = true }
        return call(host)
    }

    /// Whether an answer of this version says something new of the origin: that it multiplexes.
    mutating func learns(_ origin: String, _ version: HTTPVersion?) -> Bool {
        version?.isMultiplexed == true && host(origin)?.isMultiplexed == false
    }

    /// An origin multiplexes: its first answer has begun.
    ///
    /// - Returns: those who may run now.
    mutating func multiplexes(_ origin: String) -> [Waiting] {
        guard let host = self.host(origin) else { return [] }
        host.isMultiplexed = true
        return call(host)
    }

    /// Those of the line for whom there is a place.
    private func call(_ host: Host) -> [Waiting] {
        var next: [Waiting] = []
        while host.active < bound(host), let item = host.queue.popFirst() {
            host.active += 1
            next.append(item)
        }
        return next
    }

    /// Leaves the queue; false when the ticket has been called already.
    mutating func abandon(_ origin: String, ticket: Int) -> Bool {
        host(origin)?.queue.remove(ticket: ticket) ?? false
    }

    /// Forgets origins that nobody uses, when there are many: a program may speak to a new host with each request.
    mutating func forgetIdleHosts() {
        guard hosts.count > 256 else { return }
        hosts = hosts.filter { $0.value.active > 0 || !$0.value.queue.isEmpty }
        recent = nil
    }

    private mutating func host(_ origin: String) -> Host? {
        if let recent, recent.origin == origin { return recent.host }
        guard let host = hosts[origin] else { return nil }
        recent = (origin, host)
        return host
    }

    private mutating func add(_ origin: String) -> Host {
        let host = Host()
        hosts[origin] = host
        recent = (origin, host)
        return host
    }

    private func bound(_ host: Host) -> Int { host.isMultiplexed ? max(limit, multiplexedLimit) : limit }
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
