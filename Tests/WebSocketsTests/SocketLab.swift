// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import SessionCore
import SessionManager
import TestSupport
import WebSockets

/// A server of WebSockets (`Tests/Origin/sockets`) in a namespace of its own, and what it tells.
final class SocketServer: Sendable {
    /// A message of the server.
    struct Event: Sendable, Decodable {
        let event: String
        let connection: Int?
        let path: String?
        let port: Int?
        let peer: String?
        let fields: [String: String]?
        let first: Int?
        let size: Int?
        let content: String?
        let key: String?
        let bytes: Int?
        let how: String?
    }

    let port: Int
    private let program: RunningProgram

    /// - Parameters:
    ///   - certificate: of TLS, with its key in one file; nil for none.
    ///   - real: the folder with the Python package `websockets`, which serves then; nil for a server of this
    ///     project.
    init(
        in namespace: NetworkNamespace, _ address: String = "127.0.0.1", port: Int = 0,
        certificate: String? = nil,
        real: String? = nil
    ) async throws {
        let script =
            "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Origin/sockets"
        var command = ["/usr/bin/python3", "-B", script, address, "\(port)"]
        if let certificate { command += ["--tls", certificate, certificate] }
        if let real { command += ["--real", real] }
        program = try await namespace.start(command)
        let events = Self.decode(await program.output.wait(forCount: 1))
        guard let ready = events.first?.port else {
            throw LabError("the server does not start: \(program.standardError)")
        }
        self.port = ready
    }

    private static func decode(_ lines: [String]) -> [Event] {
        lines.compactMap { try? JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
    }

    /// Waits until the server's messages satisfy a condition.
    @discardableResult
    func wait(until isEnough: @escaping @Sendable ([Event]) -> Bool) async throws -> [Event] {
        let seen = Self.decode(await program.output.wait { isEnough(Self.decode($0)) })
        guard isEnough(seen) else { throw LabError("the server has told only \(seen)") }
        return seen
    }

    /// The frames with an opcode, once there is a number of them.
    func frames(_ opcode: Int, _ count: Int = 1) async throws -> [Event] {
        let isOne: @Sendable (Event) -> Bool = { $0.event == "frame" && ($0.first ?? 0) & 15 == opcode }
        return try await wait { $0.count(where: isOne) >= count }.filter(isOne)
    }

    func requests(_ count: Int) async throws -> [Event] {
        try await wait { $0.count { $0.event == "request" } >= count }.filter { $0.event == "request" }
    }

    func release() { program.terminate(signal: SIGUSR1) }
    func stop() async throws {
        program.terminate(signal: SIGKILL)
        _ = try await program.status()
    }
}

/// A manager beside such a server.
struct SocketLab {
    let namespace: NetworkNamespace
    let server: SocketServer
    let manager: URLSessionManager
    let isSecure: Bool
    private let folder: ScratchFolder
    private let policy: SecurityPolicy

    /// - Parameter existing: a namespace that is there already.
    init(
        isSecure: Bool = false, real: String? = nil, in existing: NetworkNamespace? = nil,
        _ change: (inout SessionConfiguration) -> Void = { _ in },
        queue: RequestQueue.Settings = RequestQueue.Settings()
    ) async throws {
        if let existing { namespace = existing } else { namespace = try await NetworkNamespace() }
        try await namespace.ip("link set lo up")
        folder = try ScratchFolder()
        self.isSecure = isSecure
        let file = isSecure ? "\(folder.path)/server.pem" : nil
        if let file {
            try await namespace.run(
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-days", "2", "-subj", "/CN=device.test", "-addext",
                "subjectAltName=IP:127.0.0.1,DNS:device.test", "-keyout", "\(file).key", "-out", file)
            try await namespace.run("/bin/sh", "-c", "cat \"$0.key\" >>\"$0\"", file)
        }
        server = try await SocketServer(in: namespace, certificate: file, real: real)
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        configuration.hostAddresses = ["device.test:\(server.port):127.0.0.1"]
        change(&configuration)
        var policy = SecurityPolicy.default
        if let file { policy.trustRoots = .only(.file(file)) }
        self.policy = policy
        manager = URLSessionManager(
            configuration: configuration, securityPolicy: policy, on: namespace.reactor, queue: queue)
    }

    /// Another manager beside the same server.
    func another() -> URLSessionManager {
        URLSessionManager(
            configuration: manager.configuration, securityPolicy: policy, on: namespace.reactor)
    }

    /// - Parameter host: 127.0.0.1, which the network does not hold, or device.test, which it does.
    func address(_ path: String, host: String = "127.0.0.1") -> String {
        "\(isSecure ? "wss" : "ws")://\(host):\(server.port)\(path)"
    }

    func socket(
        _ path: String, protocols: [String] = [], options: WebSocketOptions = WebSocketOptions(),
        taskOptions: TaskOptions? = nil, on other: URLSessionManager? = nil
    ) throws -> WebSocket {
        try (other ?? manager).webSocket(
            address(path), protocols: protocols, options: options, taskOptions: taskOptions)
    }

    /// Sends bytes of a server to a client.
    func socket(sending bytes: [UInt8], _ query: String = "") throws -> WebSocket {
        let text = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return try socket("/send?hex=\(text)\(query)")
    }
}

extension WebSocket {
    /// All messages until the end, and what that is.
    func everything() async -> (messages: [WebSocketMessage], error: SessionError?) {
        var all: [WebSocketMessage] = []
        do throws(SessionError) {
            var iterator = messages.makeAsyncIterator()
            while let message = try await iterator.next() { all.append(message) }
            return (all, nil)
        } catch {
            return (all, error)
        }
    }

    /// Why it does not open.
    func refusal() async -> SessionError? {
        do throws(SessionError) {
            try await opened()
            return nil
        } catch {
            return error
        }
    }
}
