// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import FoundationEssentials
package import SessionCore

/// Makes what carries out the transfers of a session; called on the loop's thread, with the first task.
package typealias CarrierMaker = @Sendable (Reactor, SessionConfiguration) -> any TransferCarrier

/// Carries out the transfers of a session: libcurl's engine, or the answers of a test; on the loop's thread.
///
/// All that is above it is the same for both: requests, queues, redirects, challenges, retries, caches,
/// files. All that is libcurl's is below: connections, TLS, versions of HTTP, lines that are dead.
package protocol TransferCarrier: AnyObject {
    var reactor: Reactor { get }
    /// Keeps calls out of callbacks, and gathers what waits for the end of a turn.
    var turn: EngineTurn { get }
    /// Whether bodies over HTTP/2 arrive as they were sent.
    var sendsBodiesByHTTP2: Bool { get }
    /// Certificates that a delegate has accepted; nil where no delegate is asked about servers.
    var approvals: ServerTrustCache? { get }
    /// When links, addresses or routes have changed for the last time, as far as that was reported.
    var pathChange: Int64? { get }
    /// What its transfers may send and receive together; nil for no limit.
    var sessionPace: SessionPace? { get }

    /// Carries a transfer out as soon as its origin has room.
    func start(_ transfer: Transfer)
    /// Ends a transfer without a call of its delegate.
    func cancel(_ transfer: Transfer)
    /// Ends a transfer with an error.
    func fail(_ transfer: Transfer, _ error: SessionError)
    /// Stops the bytes of a transfer, or resumes them as soon as there is a slot for it.
    func setSuspended(_ transfer: Transfer, _ isSuspended: Bool)
    /// Resumes the content after a sink was full, or the body after its source had nothing.
    func resume(_ transfer: Transfer)
    /// Has another protocol use the connection of a transfer that begins next; nothing where the carrier has
    /// no connections.
    func upgrade(_ transfer: Transfer, by upgrade: any ConnectionUpgrade)
    /// Records the version of an answer that has begun.
    func recordVersion(of transfer: Transfer)
    /// What was measured of a transfer until now; nil where it has not begun.
    func metrics(of transfer: Transfer) -> TransferMetrics?
    /// The origin of a URL that is written as text, and whether it is spoken to by TLS.
    func origin(of address: String) -> (origin: String, isSecure: Bool)
    /// The way to a URL whose server listens on a socket of this machine; nil for the network.
    func route(to address: String) -> SocketRoute?
    /// The proxy of a URL; nil where its server is spoken to directly.
    func proxy(for url: URL) -> ProxyChoice?
    /// The proxy that may answer requests for a URL in the server's place.
    func forwardingProxy(for url: URL) -> ProxyChoice?
    /// Ends everything that is left.
    func close()
}

/// A carrier that speaks to no server: no proxy, no certificates, no links.
extension TransferCarrier {
    package var sendsBodiesByHTTP2: Bool { true }
    package var approvals: ServerTrustCache? { nil }
    package var pathChange: Int64? { nil }
    package var sessionPace: SessionPace? { nil }
    package func upgrade(_ transfer: Transfer, by upgrade: any ConnectionUpgrade) {}
    package func route(to address: String) -> SocketRoute? { nil }
    package func proxy(for url: URL) -> ProxyChoice? { nil }
    package func forwardingProxy(for url: URL) -> ProxyChoice? { nil }
}
