// SPDX-License-Identifier: Apache-2.0

import Reachability

/// The result of a name lookup.
struct NameObservation: Sendable, Equatable {
    enum Outcome: Sendable, Equatable {
        case found([IPAddress])
        /// The name servers report that the name does not exist, or has no address.
        case noSuchName
        /// No name server has answered, or none could be asked.
        case noAnswer
        case failed(String)
    }

    var name: String
    var outcome: Outcome
    var took: Duration
    /// The configured name servers (resolv.conf(5)).
    var servers: [String]
    /// Those that answer with an error where no address was found, with its code (RCODE, RFC 1035 §4.1.1).
    var refusals: [NameServerRefusal] = []
}

/// A name server that answers, and not with an address.
struct NameServerRefusal: Sendable, Equatable {
    var server: String
    var code: UInt8
}

/// The result of connecting to one address.
struct ConnectionObservation: Sendable, Equatable {
    enum Outcome: Sendable, Equatable {
        case connected
        case refused
        /// No packet came back.
        case timedOut
        /// The error of this machine's kernel, as strerror(3) names it.
        case failed(String)
        /// A device on the way rejected the packets by ICMP.
        case rejected(ConnectionRejection)
    }

    var address: IPAddress
    var port: Int
    var outcome: Outcome
    var took: Duration
    /// The next hop, if it does not answer ARP: a gateway, or on a link the address itself.
    var silentNeighbour: Neighbour?

    struct Neighbour: Sendable, Equatable {
        var address: IPAddress
        var interface: String
    }
}

/// The result of requesting the URL from the server.
struct ExchangeObservation: Sendable, Equatable {
    enum Outcome: Sendable, Equatable {
        case answered(status: Int, location: String?)
        /// The connection was established, and the server sent nothing, or nothing more.
        case silent
        /// The certificate is not valid at the time of this machine's clock.
        case notValidNow(String, ClockEvidence)
        /// The certificate is for another name.
        case otherServer(String)
        /// Its issuer is not trusted.
        case unknownAuthority(String)
        /// The TLS handshake failed: the peer does not speak TLS, or no compatible version.
        case brokenTLS(String)
        case libraryMissing(String)
        case failed(String)
    }

    var outcome: Outcome
    /// How far this machine's clock is ahead of the server's, in seconds; nil if the server sends no time.
    var clockAhead: Int64?
    /// The validity of the server's certificate, if it is not valid now and was requested.
    var certificate: CertificateTimes?
    /// The page in the answer; nil if it was no web page.
    var page: AnsweredPage?
    /// Whether the answer is the expected one; nil without an expectation.
    var isExpected: Bool?
}

/// The result of reaching a proxy.
enum ProxyObservation: Sendable, Equatable {
    /// Its name has no address.
    case name(NameObservation.Outcome)
    /// An established connection, or else the first failed one.
    case connection(ConnectionObservation)
}
