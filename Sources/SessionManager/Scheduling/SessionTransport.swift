// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore

/// What carries out the transfers of the tasks of one session, made with the first of them; on the loop's
/// thread.
final class SessionTransport {
    private let reactor: Reactor
    let configuration: SessionConfiguration
    private let policy: SecurityPolicy
    /// Whether a delegate is asked about servers.
    private let asksAboutServers: Bool
    private let makeCarrier: CarrierMaker?
    private let sockets: SocketCalls?
    private var carrier: (any TransferCarrier)?
    /// The carrier, where it is libcurl's engine.
    private var engine: TransferEngine?

    init(
        reactor: Reactor, configuration: SessionConfiguration, policy: SecurityPolicy,
        asksAboutServers: Bool, makeCarrier: CarrierMaker?, sockets: SocketCalls?
    ) {
        self.makeCarrier = makeCarrier
        self.sockets = sockets
        self.reactor = reactor
        self.configuration = configuration
        self.policy = policy
        self.asksAboutServers = asksAboutServers
    }

    /// - Parameters:
    ///   - rescues: whether sockets are bound to an alternative while the kernel's choice is dead.
    ///   - lines: what is known of the lines; asked for with the first task alone.
    func carrier(
        rescues: @autoclosure () -> Bool, lines: @autoclosure () -> LineKnowledge
    ) throws(SessionError) -> any TransferCarrier {
        if let carrier { return carrier }
        if let makeCarrier {
            let new = makeCarrier(reactor, configuration)
            carrier = new
            return new
        }
        let new = try TransferEngine(
            reactor: reactor, configuration: configuration, policy: policy, asks: asksAboutServers,
            sockets: sockets)
        new.rescues = rescues()
        new.lines = lines()
        (engine, carrier) = (new, new)
        return new
    }

    func setRescues(_ rescues: Bool) { engine?.rescues = rescues }

    func setLines(_ lines: LineKnowledge) { engine?.lines = lines }

    /// Links, addresses or routes have changed.
    func pathsChanged() { engine?.pathsChanged() }

    func close() {
        carrier?.close()
        (engine, carrier) = (nil, nil)
    }
}
