// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Reachability
import ReachabilityCore
import SessionCore

/// Carries out what ``LookupStateMachine`` decides for one host that the system has been looking up for long;
/// on the loop's thread.
final class HostLookup {
    /// What the exchanges with the host have to do.
    enum Result {
        /// Connect to these addresses.
        case use([IPAddress])
        /// Go over the uplink, since the line is dead.
        case move(Detour)
    }

    private let host: String
    private let port: UInt16
    private let request: SessionRequest
    private let reactor: Reactor
    private unowned let monitor: ConnectionMonitor
    private let control: any TransferControl
    private let mayUse: (Detour) -> UplinkTraits?
    private let onResult: (Result) -> Void
    private var machine: LookupStateMachine
    private var addresses: [IPAddress]
    private var resolvers: [LinkResolver] = []
    private var race: LineRace?
    private var timer: TimerID?

    /// - Parameters:
    ///   - kept: An address that the host had before; nil for none.
    ///   - began: When the system began to look it up.
    ///   - mayUse: gives what the queue knows of a way that any of the exchanges may go; nil for none.
    init(
        _ host: String, of request: SessionRequest, kept: IPAddress?, began: Int64,
        _ monitor: ConnectionMonitor, on reactor: Reactor, control: any TransferControl,
        mayUse: @escaping (Detour) -> UplinkTraits?, onResult: @escaping (Result) -> Void
    ) {
        self.host = host
        let isSecure = request.url.scheme?.lowercased() == "https"
        port = UInt16(clamping: request.url.port ?? (isSecure ? 443 : 80))
        self.request = UplinkTrial.request(like: request)
        self.reactor = reactor
        self.monitor = monitor
        self.control = control
        self.mayUse = mayUse
        self.onResult = onResult
        addresses = kept.map { [$0] } ?? []
        machine = LookupStateMachine(began: began)
        setTimer()
    }

    func close() {
        if let timer = timer.take() { _ = reactor.cancel(timer) }
        for resolver in resolvers { resolver.cancel() }
        resolvers = []
        race?.close()
        race = nil
    }

    private func perform(_ action: LookupStateMachine.Action) {
        switch action {
        case .nothing: break
        case .ask: ask()
        case .race: tryServer()
        case .use: return onResult(.use(addresses))
        }
        setTimer()
    }

    private func failed() {
        machine.failed(at: Reactor.now)
        setTimer()
    }

    /// The other uplinks that may be used.
    private func uplinks(besides line: LineRace.Server) -> [Uplink] {
        monitor.uplinks(besides: line).compactMap { uplink in
            mayUse(Detour(line, uplink)).map { uplink.priced($0) }
        }
    }

    /// Asks for the name over each other uplink; the first answer counts.
    private func ask() {
        guard let line = monitor.lineToInternet() else { return machine.failed(at: Reactor.now) }
        let uplinks = uplinks(besides: line)
        guard !uplinks.isEmpty else { return machine.failed(at: Reactor.now) }
        let files = NameServerFiles()
        var open = uplinks.count
        for uplink in uplinks {
            let resolver = LinkResolver(
                host, over: uplink.name, servers: files.servers(for: uplink.index, name: uplink.name),
                on: reactor
            ) { [weak self] found in
                open -= 1
                guard let self, addresses.isEmpty else { return }
                addresses = found
                if !found.isEmpty { return perform(machine.addressFound()) }
                if open == 0 { failed() }
            }
            resolvers.append(resolver)
        }
    }

    private func tryServer() {
        guard let address = addresses.first, let line = monitor.line(to: address, port: port) else {
            return machine.failed(at: Reactor.now)
        }
        let uplinks = uplinks(besides: line)
        guard !uplinks.isEmpty else { return machine.failed(at: Reactor.now) }
        let race = LineRace(line, on: reactor, control: control) { [weak self] result in
            guard let self, case .move(let uplink, _) = result else { return }
            onResult(.move(Detour(line, uplink)))
        }
        race.onQuiet = { [weak self] hasAnswered in
            guard let self else { return }
            if hasAnswered { machine.ownLineAnswered(at: Reactor.now) } else { return failed() }
            setTimer()
        }
        self.race = race
        race.suspected(request, over: uplinks, wait: monitor.patience(over: line.interface))
    }

    private func setTimer() {
        if let timer = timer.take() { _ = reactor.cancel(timer) }
        guard let deadline = machine.nextDeadline else { return }
        timer = reactor.schedule(at: deadline) { [unowned self] in
            timer = nil
            perform(machine.timeCame(hasAddress: !addresses.isEmpty, at: Reactor.now))
        }
    }
}
