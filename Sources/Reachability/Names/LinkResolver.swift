// SPDX-License-Identifier: Apache-2.0

package import EventLoop
import Glibc
package import ReachabilityCore

/// Asks name servers over one link, whatever the kernel would choose; on the loop's thread.
///
/// getaddrinfo(3) cannot be told a link: its questions go where the default route leads, which may be a dead
/// line. Both kinds of addresses are asked for at once, by UDP; a server that does not answer in a second is
/// asked once more, then the next one.
package final class LinkResolver {
    private static let timeout: Int64 = 1_000_000_000
    /// How long the other kind of address is waited for when one has come: 50 ms (RFC 8305 §3).
    private static let resolutionDelay: Int64 = 50_000_000
    private static let triesPerServer = 2

    private let reactor: Reactor
    private let name: String
    private let interface: String
    private var servers: [IPAddress]
    private var completion: (([IPAddress]) -> Void)?
    private var questions: [DNSMessage.RecordType: [UInt8]] = [:]
    private var found: [IPAddress] = []
    private var tries = 0
    private var descriptor: Int32 = -1
    private var watch: WatchID?
    private var timer: TimerID?

    /// Begins to ask.
    ///
    /// - Parameter completion: called once, later, with the addresses; none where the name has none or no
    ///   server answers.
    package init(
        _ name: String, over interface: String, servers: [IPAddress], on reactor: Reactor,
        completion: @escaping ([IPAddress]) -> Void
    ) {
        self.name = name
        self.interface = interface
        self.servers = servers
        self.reactor = reactor
        self.completion = completion
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

    private func ask() {
        closeSocket()
        if tries == Self.triesPerServer {
            servers.removeFirst()
            tries = 0
        }
        guard let server = servers.first else { return finish() }
        tries += 1
        questions = [:]
        for type in DNSMessage.RecordType.allCases {
            guard let question = DNSMessage.question(name, type, id: .random(in: 0...UInt16.max)) else {
                return finish()
            }
            questions[type] = question
        }
        if open(to: server) {
            for question in questions.values { _ = send(descriptor, question, question.count, 0) }
            setTimer(Self.timeout)
        } else {
            tries = Self.triesPerServer
            setTimer(0)
        }
    }

    private func open(to server: IPAddress) -> Bool {
        let family = server.family == .ipv4 ? AF_INET : AF_INET6
        let kind = SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        descriptor = socket(family, Int32(kind), 0)
        guard descriptor >= 0 else { return false }
        // A connected socket gets the answers of this server alone.
        guard InterfaceBinding.bind(descriptor, to: interface),
            PeerAddress(address: server, port: 53).connect(descriptor) == 0
        else {
            return false
        }
        do throws(ReactorError) {
            watch = try reactor.watch(descriptor, for: .readable) { [unowned self] _ in receive() }
            return true
        } catch {
            return false
        }
    }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else {
            // Refused by ICMP: the next try is at another server.
            if errno != EAGAIN, errno != EINTR {
                tries = Self.triesPerServer
                setTimer(0)
            }
            return
        }
        let bytes = Array(buffer[..<count])
        for (type, question) in questions {
            guard let answer = DNSMessage.answer(bytes, to: question) else { continue }
            questions[type] = nil
            switch answer {
            case .addresses(let addresses): found += addresses
            case .noSuchName: questions = [:]
            case .failure: break
            }
            if questions.isEmpty {
                if case .failure = answer, found.isEmpty {
                    tries = Self.triesPerServer
                    return setTimer(0)
                }
                return finish()
            }
            if !found.isEmpty { setTimer(Self.resolutionDelay) }
            return
        }
    }

    private func finish() {
        close()
        let completion = completion.take()
        completion?(found)
    }

    private func close() {
        if let timer = timer.take() { _ = reactor.cancel(timer) }
        closeSocket()
    }

    private func closeSocket() {
        if let watch = watch.take() { reactor.unwatch(watch) }
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }
}
