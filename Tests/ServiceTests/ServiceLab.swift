// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import Reachability
import ReachabilityCore
import Service
import ServiceCore
import SessionCore
import TestSupport
import Testing

/// A service in this process on a network in memory, with a socket in a folder of its own.
final class ServiceLab: Sendable {
    let kernel: FakeKernel
    let socket: String
    let folder: String
    let log = EventLog<String>()
    private let reactor: Reactor
    private let service: LoopBound<Service>
    private let ended = EventLog<Bool>()

    init(
        _ network: FakeNetwork = .wired, limits: VarlinkLimits = .init(),
        environment: [String: String] = [:], mayUseOutbox: (@Sendable (PeerCredentials) -> Bool)? = nil,
        isOwner: (@Sendable (PeerCredentials) -> Bool)? = nil,
        parts: (@Sendable () -> [any ServiceComponent])? = nil, hasOutbox: Bool = false,
        configure: (inout ReachabilityConfiguration) -> Void = { _ in }
    ) async throws {
        var template = Array("\(TemporaryFolder.path)/serve.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw LabError("mkdtemp", errno: errno) }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.folder = folder
        socket = folder + "/run/reach.varlink"
        let reactor = try Reactor(name: "service-test")
        self.reactor = reactor
        let kernel = FakeKernel(network, reactor: reactor)
        self.kernel = kernel
        var plan = ServicePlan(socket: socket, stateDirectory: folder, outboxGroup: nil, version: "1.2.3")
        plan.limits = limits
        plan.hasOutbox = hasOutbox
        if let isOwner { plan.isOwner = isOwner }
        plan.mayUseOutbox = mayUseOutbox
        if let parts { plan.parts = parts }
        plan.configuration.timing.lossGrace = .zero
        plan.configuration.timing.evaluationInterval = .zero
        configure(&plan.configuration)
        let manager = ServiceManager(environment: { environment[$0] }, process: getpid())
        let log = log
        service = try await reactor.result { [plan] in
            let service = try plan.make(reactor, kernel.environment, manager) { log.append($1) }
            try service.start()
            return LoopBound(service, to: reactor)
        }
    }

    /// Returns when the service has begun to stop.
    func beginToStop() async throws {
        service.perform { $0.stop() }
        try await settle()
    }

    /// Stops the service and removes the folder.
    ///
    /// - Parameter look: called between the two.
    func stop(_ look: () -> Void = {}) async {
        service.perform { [ended] in
            $0.whenEnded { ended.append(true) }
            $0.stop()
        }
        await ended.wait(forCount: 1)
        look()
        _ = try? await reactor.run(["rm", "-rf", folder])
    }

    /// Returns when all earlier work of the loop is done.
    func settle() async throws { try await reactor.result {} }

    func reload() { service.perform { $0.reload() } }

    var stateLines: [String] {
        get async {
            let count = log.elements.count
            service.perform { $0.logState() }
            return Array(await log.wait(forCount: count + 3).dropFirst(count))
        }
    }

    /// A new connection.
    func client() throws -> Caller { try Caller(path: socket) }
}

/// A connection with one call at a time.
struct Caller: ~Copyable {
    private var client: VarlinkClient

    /// The time limit of a wait; only a hang reaches it.
    static var limit: Int64 { Reactor.now + 60_000_000_000 }

    init(path: String) throws { client = try VarlinkClient(path: path) }

    func send(_ method: String, _ parameters: [String: JSONValue] = [:], more: Bool = false) throws {
        let name = method.contains(".") ? method : "io.reach.Reachability.\(method)"
        try client.send(VarlinkCall(name, parameters, more: more), until: Self.limit)
    }

    func send(bytes: [UInt8]) throws { try client.send(bytes, until: Self.limit) }

    /// Closes the direction to the service alone, as `nc -N` does at the end of its input.
    func endSending() { shutdown(client.number, Int32(SHUT_WR)) }

    /// Sends as much as the socket accepts at once; throws if that is nothing.
    func sendNow(_ bytes: [UInt8]) throws { try client.send(bytes, until: 0) }

    /// The next reply unchanged; nil if the service has closed the connection.
    mutating func message() throws -> [UInt8]? { try client.receive(until: Self.limit) }

    /// The next reply; nil if the service has closed the connection.
    mutating func reply() throws -> JSONValue? {
        try client.receive(until: Self.limit).map { try JSONValue(parsing: Data($0)) }
    }

    mutating func call(_ method: String, _ parameters: [String: JSONValue] = [:]) throws -> JSONValue {
        try send(method, parameters)
        return try #require(try reply())
    }
}
