// SPDX-License-Identifier: Apache-2.0

import Reachability

/// An ICMP message that ended a connection attempt: its sender and its meaning (RFC 792, RFC 1812 §5.2.7.1,
/// RFC 4443 §3); or this machine's firewall, which drops without a message.
struct ConnectionRejection: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        /// A firewall or a policy forbids it.
        case prohibited
        /// The sender is on the host's link and does not find it.
        case noHost
        /// The sender has no route.
        case noNetwork
        case noPort
        /// The packets went from router to router until their time to live was used up.
        case circle
        case other(type: UInt8, code: UInt8)
        /// Without an ICMP message.
        case dropped
    }

    /// A firewall of this machine drops what it sends.
    static let ownFirewall = ConnectionRejection(sender: .thisMachine, kind: .dropped)

    enum Sender: Sendable, Equatable {
        case thisMachine, server
        case router(IPAddress)
    }

    var sender: Sender
    var kind: Kind

    init(sender: Sender, kind: Kind) {
        self.sender = sender
        self.kind = kind
    }

    /// - Parameter source: this machine's address for the destination `server`; nil if unknown.
    init(from address: IPAddress, type: UInt8, code: UInt8, server: IPAddress, source: IPAddress?) {
        sender =
            if address == server { .server } else if address == source || address.isLoopback {
                .thisMachine
            } else { .router(address) }
        kind = address.family == .ipv4 ? Self.kind4(type, code) : Self.kind6(type, code)
    }

    private static func kind4(_ type: UInt8, _ code: UInt8) -> Kind {
        switch (type, code) {
        case (3, 9), (3, 10), (3, 13): .prohibited
        case (3, 1), (3, 7): .noHost
        case (3, 0), (3, 6): .noNetwork
        case (3, 3): .noPort
        case (11, _): .circle
        default: .other(type: type, code: code)
        }
    }

    private static func kind6(_ type: UInt8, _ code: UInt8) -> Kind {
        switch (type, code) {
        case (1, 1), (1, 5), (1, 6): .prohibited
        case (1, 3): .noHost
        case (1, 0): .noNetwork
        case (1, 4): .noPort
        case (3, _): .circle
        default: .other(type: type, code: code)
        }
    }

    /// The message in a sentence, with its sender as subject.
    var sentence: String { "\(who) \(what)" }

    private var who: String {
        switch sender {
        case .thisMachine: "this machine"
        case .server: "the server's own address"
        case .router(let address): "\(address) on the way"
        }
    }

    private var what: String {
        switch kind {
        case .prohibited: "refuses (ICMP: administratively prohibited)"
        case .noHost: "refuses (ICMP: host unreachable)"
        case .noNetwork: "refuses (ICMP: no route)"
        case .noPort: "refuses (ICMP: port unreachable)"
        case .circle: "gives up (ICMP: time exceeded)"
        case .other(let type, let code): "refuses (ICMP type \(type), code \(code))"
        case .dropped: "drops the packets before they leave"
        }
    }

    /// The advice for people.
    func advice(port: Int, address: IPAddress) -> String {
        switch (sender, kind) {
        case (.thisMachine, _):
            "a firewall or a route of this machine forbids it: nft list ruleset; ip route get \(address)"
        case (.server, .noPort):
            "the network is fine: nothing listens there, or the server's firewall forbids port \(port)"
        case (.server, _): "the network is fine: the server's firewall forbids it; open port \(port) there"
        case (.router(let router), .noHost):
            "the network is fine up to \(router): look whether the server is switched on, and at the network behind \(router)"
        case (.router(let router), .noNetwork): "look at the uplink and the routes of \(router)"
        case (.router(let router), .circle):
            "routers send the packets round in circles: look at the routes of \(router) and of its neighbours"
        case (.router(let router), _):
            "the network is fine up to \(router), whose firewall forbids it: allow port \(port) there"
        }
    }
}
