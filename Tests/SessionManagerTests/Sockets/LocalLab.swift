// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachTesting
import SessionCore
import SessionManager
import TestSupport

/// Servers behind sockets of this machine (`Tests/Origin/local`), in a namespace where every link is down.
struct LocalLab {
    let namespace: NetworkNamespace
    let folder: ScratchFolder
    let network = ScriptedNetwork(.unreachable)
    private let servers: [RunningProgram]

    /// - Parameter names: names of files, or `@` and a name.
    init(_ names: [String] = ["a.sock"]) async throws {
        namespace = try await NetworkNamespace()
        folder = try ScratchFolder()
        let paths = names.map { [folder] in $0.hasPrefix("@") ? $0 : folder($0) }
        servers = names.isEmpty ? [] : [try await Self.serve(paths, in: namespace)]
    }

    /// Starts a server, and waits until it listens.
    static func serve(_ paths: [String], in namespace: NetworkNamespace) async throws -> RunningProgram {
        let script =
            "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Origin/local"
        let program = try await namespace.start(["/usr/bin/python3", "-B", script] + paths)
        guard await program.output.wait(forCount: 1).first == "ready" else {
            throw LabError("the server does not start: \(program.standardError)")
        }
        return program
    }

    /// A manager whose queue holds what needs a network, and that would use a proxy which there is not.
    func manager(_ change: (inout SessionConfiguration) -> Void = { _ in }) -> URLSessionManager {
        var configuration = SessionConfiguration()
        configuration.proxy = "http://127.0.0.1:9"
        change(&configuration)
        return URLSessionManager(
            configuration: configuration, securityPolicy: .default, on: namespace.reactor,
            queue: RequestQueue.Settings { [network] in $0.follows = .provider(network) })
    }

    func url(_ path: String, _ name: String = "a.sock", scheme: String = "http") -> String {
        let socket = name.hasPrefix("@") ? name : folder(name)
        return "\(scheme)+unix://\(socket.replacing("/", with: "%2F").replacing("@", with: "%40"))\(path)"
    }

    /// What the server says that a request was.
    static func echo(_ request: SessionRequest, by manager: URLSessionManager) async throws -> Echo {
        let (data, response) = try await manager.data(for: request)
        guard response.statusCode == 200 else { throw LabError("status \(response.statusCode ?? 0)") }
        return try JSONDecoder().decode(Echo.self, from: data)
    }

    struct Echo: Decodable {
        let socket: String
        let method: String
        let target: String
        let fields: [String: String]
        let body: String
        let connection: Int
        let request: Int
    }
}
