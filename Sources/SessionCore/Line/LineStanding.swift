// SPDX-License-Identifier: Apache-2.0

/// What a probe's findings mean for a connection over a line.
package enum LineStanding: Sendable, Equatable {
    /// No probe knows better.
    case unknown
    /// Another uplink has internet: where the peer owes an acknowledgement, less patience is needed.
    case replaceable
    /// No internet was found behind the line, and new exchanges go over another uplink.
    case left
    /// No uplink has internet; the sentence says what was found behind each.
    case dead(String)
}

extension InternetState {
    /// Whether the server was asked and did not answer as it should.
    package var isDead: Bool {
        switch self {
        case .none, .limited, .portal: true
        case .unknown, .full: false
        }
    }
}

extension InternetFindings {
    /// What was found behind an interface; nil where it is no uplink.
    package func uplink(_ interface: String) -> UplinkInternet? {
        uplinks.first { $0.interface == interface }
    }

    /// The preferred uplink; nil where its name is not known.
    package var preferred: UplinkInternet? { uplinks.first.flatMap { $0.isPreferred ? $0 : nil } }

    /// The uplink that carries what must not go over a line; nil where none has internet.
    package func best(besides line: String) -> UplinkInternet? {
        let good = uplinks.filter { $0.state == .full && $0.interface != line }
        return good.first { !$0.traits.isExpensive } ?? good.first
    }

    /// Whether what leaves its line may go over an uplink: not where nothing comes back from behind that, and
    /// without TLS not where a portal would answer.
    package func mayTake(_ uplink: String, isPlain: Bool) -> Bool {
        guard let state = self.uplink(uplink)?.state else { return true }
        return state != .none && !(isPlain && state == .portal)
    }

    /// Whether what goes without TLS beyond the router waits: for a portal, or, on the way around a line, for
    /// the internet as well.
    package func holdsPlain(_ detour: Detour?) -> Bool {
        detour.map { !mayTake($0.uplink, isPlain: true) } ?? (state == .portal)
    }

    /// Whether each uplink that is asked was asked in vain.
    package var isDead: Bool { state.isDead && isComplete && !uplinks.contains { $0.state == .full } }

    /// What was found behind each uplink, for a person: "eth0: no answer in 10 s; wwan0: no answer in 10 s".
    package var sentence: String {
        guard !uplinks.isEmpty else { return "the internet was not found behind the network" }
        return uplinks.map { "\($0.interface): \($0.reason)" }.joined(separator: "; ")
    }

    /// What they mean for a connection over a line.
    package func standing(of line: String, detour: Detour?) -> LineStanding {
        let own = uplink(line)
        // A path of its own to somewhere else than the internet is no uplink.
        if isDead, own != nil || uplinks.isEmpty { return .dead(sentence) }
        if detour?.line == line, own?.state.isDead == true { return .left }
        return own != nil && best(besides: line) != nil ? .replaceable : .unknown
    }
}
