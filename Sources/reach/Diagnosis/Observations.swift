// SPDX-License-Identifier: Apache-2.0

import Reachability

/// What looking up a name came to.
struct NameObservation: Sendable, Equatable {
    enum Outcome: Sendable, Equatable {
        case found([IPAddress])
        /// The name servers say that there is no such name, or none with an address.
        case noSuchName
        /// No name server has answered, or none could.
        case noAnswer
        case failed(String)
    }

    var name: String
    var outcome: Outcome
    var took: Duration
    /// The name servers that are configured (resolv.conf(5)); empty where there is none.
    var servers: [String]
}

/// What connecting to one address came to.
struct ConnectionObservation: Sendable, Equatable {
    enum Outcome: Sendable, Equatable {
        case connected
        case refused
        /// Nothing came back.
        case timedOut
        /// This machine's kernel says why, as strerror(3) does.
        case failed(String)
        /// A device says by ICMP that it does not let the packets on.
        case rejected(ConnectionRejection)
    }

    var address: IPAddress
    var port: Int
    var outcome: Outcome
    var took: Duration
    /// Who had to take the packets and does not even say which station it is (ARP): a gateway, or on a link
    /// the address itself.
    var silentNeighbour: Neighbour?

    struct Neighbour: Sendable, Equatable {
        var address: IPAddress
        var interface: String
    }
}

/// What asking the server for the URL came to.
struct ExchangeObservation: Sendable, Equatable {
    enum Outcome: Sendable, Equatable {
        case answered(status: Int, location: String?)
        /// The connection stood, and then nothing came, or no more.
        case silent
        /// The certificate is not valid at the time that this machine's clock shows.
        case notValidNow(String, ClockEvidence)
        /// The certificate is for another name.
        case otherServer(String)
        /// Its issuer is not trusted.
        case unknownAuthority(String)
        /// TLS did not come about: what answered does not speak it, or not in the same way.
        case brokenTLS(String)
        case libraryMissing(String)
        case failed(String)
    }

    var outcome: Outcome
    /// How far this machine's clock is ahead of the server's, in seconds; nil where the server sends no time.
    var clockAhead: Int64?
    /// When the server's certificate is valid, where it is not now and was asked for.
    var certificate: CertificateTimes?
    /// What came with the answer; nil where it was no web page.
    var page: AnsweredPage?
    /// Whether the answer is the expected one; nil where none was given.
    var isExpected: Bool?
}

/// What the way to a proxy came to.
enum ProxyObservation: Sendable, Equatable {
    /// It has no address.
    case name(NameObservation.Outcome)
    /// One connection that stands, or the first that does not.
    case connection(ConnectionObservation)
}
