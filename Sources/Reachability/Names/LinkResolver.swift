// SPDX-License-Identifier: Apache-2.0

package import EventLoop
import Glibc
package import ReachabilityCore

/// Asks name servers over one link, whatever the kernel would choose; on the loop's thread.
///
/// getaddrinfo(3) cannot be told a link: its questions go where the default route leads, which may be a dead
/// line. Both kinds of addresses are asked for at once, by UDP. The first server is asked at once and each
/// further one 250 ms after the one before, since dead ones may be among them; all once more a second later.
package final class LinkResolver {
    /// A server that is being asked.
    private struct Server {
        let end: NameServer
        var descriptor: Int32 = -1
        var watch: WatchID?
        /// How many of its answers were failures.
        var failures = 0
        var isLost: Bool { failures >= DNSMessage.RecordType.allCases.count }
    }

    private static let timeout: Int64 = 1_000_000_000
    /// How long after a server the next one is asked: 250 ms, as for addresses (RFC 8305 §5).
    private static let stagger: Int64 = 250_000_000
    /// How long the other kind of address is waited for when one has come: 50 ms (RFC 8305 §3).
    private static let resolutionDelay: Int64 = 50_000_000
    private static let triesPerServer = 2
    /// How many servers are asked.
    private static let mostServers = 8

    private let reactor: Reactor
    private let name: String
    private let interface: String
    private var servers: [Server]
    private var completion: (([IPAddress]) -> Void)?
    private var questions: [DNSMessage.RecordType: [UInt8]] = [:]
    private var found: [IPAddress] = []
    /// How many questions to a server were due.
    private var turns = 0
    private var timer: TimerID?

    /// Begins to ask.
    ///
    /// - Parameter completion: called once, later, with the addresses; none where the name has none or no
    ///   server answers.
    package init(
        _ name: String, over interface: String, servers: [NameServer], on reactor: Reactor,
        completion: @escaping ([IPAddress]) -> Void
    ) {
        self.name = name
        self.interface = interface
        self.servers = servers.prefix(Self.mostServers).map { Server(end: $0) }
        self.reactor = reactor
        self.completion = completion
        for type in DNSMessage.RecordType.allCases {
            questions[type] = DNSMessage.question(name, type, id: .random(in: 0...UInt16.max))
        }
        setTimer(0)
    }

    deinit { close() }

    /// Asks no more, without a call of the completion.
    package func cancel() {
        completion = nil
        close()
    }

    private func setTimer(_ delay: Int64) {
        if let timer = timer.take() { _ = reactor.cancel(timer) }
        timer = reactor.schedule(at: Reactor.now &+ delay) { [unowned self] in
            timer = nil
            if found.isEmpty { ask() } else { finish() }
        }
    }

    /// Asks the server whose turn it is.
    private func ask() {
        let count = servers.count
        guard questions.count == DNSMessage.RecordType.allCases.count || turns > 0,
            turns < count * Self.triesPerServer, !servers.allSatisfy(\.isLost)
        else { return finish() }
        let index = turns % count
        turns += 1
        if servers[index].descriptor < 0, !servers[index].isLost, !open(index) { lose(index) }
        for question in questions.values where !servers[index].isLost {
            let sent = send(servers[index].descriptor, question, question.count, 0)
            // By ICMP, about the question before.
            if sent < 0, errno == ECONNREFUSED { lose(index) }
        }
        let isLost = servers[index].isLost
        if servers.allSatisfy(\.isLost) || isLost && turns % count != 0 {
            setTimer(0)
        } else if turns == count * Self.triesPerServer {
            setTimer(Self.timeout)
        } else if turns % count == 0 {
            // So that a server is asked again a second later.
            setTimer(max(Self.stagger, Self.timeout - Int64(count - 1) * Self.stagger))
        } else {
            setTimer(Self.stagger)
        }
    }

    private func open(_ index: Int) -> Bool {
        let end = servers[index].end
        let family = end.address.family == .ipv4 ? AF_INET : AF_INET6
        let kind = SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(family, Int32(kind), 0)
        guard descriptor >= 0 else { return false }
        servers[index].descriptor = descriptor
        // A connected socket gets the answers of this server alone.
        guard InterfaceBinding.bind(descriptor, to: interface),
            PeerAddress(address: end.address, port: end.port).connect(descriptor) == 0
        else {
            return false
        }
        do throws(ReactorError) {
            servers[index].watch = try reactor.watch(descriptor, for: .readable) { [unowned self] _ in
                receive(index)
            }
            return true
        } catch {
            return false
        }
    }

    private func receive(_ index: Int) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(servers[index].descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else {
            // Refused by ICMP.
            if errno != EAGAIN, errno != EINTR { skip(index) }
            return
        }
        let bytes = Array(buffer[..<count])
        for (type, question) in questions {
            guard let answer = DNSMessage.answer(bytes, to: question) else { continue }
            switch answer {
            case .addresses(let addresses):
                questions[type] = nil
                found += addresses
            case .noSuchName: questions = [:]
            case .failure:
                servers[index].failures += 1
                if servers[index].isLost { skip(index) }
                return
            }
            if questions.isEmpty { return finish() }
            if !found.isEmpty { setTimer(Self.resolutionDelay) }
            return
        }
    }

    /// A server does not answer: the next one need not be waited for.
    private func skip(_ index: Int) {
        lose(index)
        if found.isEmpty, turns < servers.count || servers.allSatisfy(\.isLost) { setTimer(0) }
    }

    private func lose(_ index: Int) {
        servers[index].failures = DNSMessage.RecordType.allCases.count
        if let watch = servers[index].watch.take() { reactor.unwatch(watch) }
        if servers[index].descriptor >= 0 { Glibc.close(servers[index].descriptor) }
        servers[index].descriptor = -1
    }

    private func finish() {
        close()
        let completion = completion.take()
        completion?(found)
    }

    private func close() {
        if let timer = timer.take() { _ = reactor.cancel(timer) }
        for index in servers.indices { lose(index) }
    }
}
