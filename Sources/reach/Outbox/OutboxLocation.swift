// SPDX-License-Identifier: Apache-2.0

import Glibc
import Outbox
import Service
import ServiceCore

/// The outbox that commands use: a service's, or files; decided by ``OutboxLocationRules``.
enum OutboxLocation: Sendable {
    case service(ServiceOutboxClient)
    /// The files in this state directory.
    case files(directory: String)

    /// - Parameter folder: the state directory on the command line; nil without one.
    init(named folder: String?) throws {
        if let folder {
            self = .files(directory: folder)
            return
        }
        let socket = Self.socket
        let location = OutboxLocationRules.location(
            socket: socket, isNamed: Self.namedSocket != nil,
            answer: socket.isEmpty ? nil : SocketAnswer(asking: socket),
            recorded: Self.recorded, configured: Self.configuredDirectory)
        switch location {
        case .service: self = .service(ServiceOutboxClient(at: socket))
        case .files(let directory): self = .files(directory: directory)
        case .nowhere(let reason): throw OutboxError(.storage, reason)
        }
    }

    /// The socket of the service that is asked; empty for none.
    static var socket: String { namedSocket ?? configuration.socket }

    /// The socket that `REACH_SOCKET` names; nil if it is not set.
    static var namedSocket: String? { getenv(ServicePaths.socketVariable).map { String(cString: $0) } }

    /// The state directory of that service, by its record, or else by the configuration; nil for a service
    /// whose socket was named, of which the configuration says nothing.
    static var stateDirectory: String? {
        if let recorded { return recorded }
        return namedSocket?.isEmpty ?? true ? configuration.stateDirectory : nil
    }

    private static var recorded: String? {
        StateDirectoryRecord.directory(socket: socket.isEmpty ? configuration.socket : socket)
    }

    /// The configuration of a service that would be started here without options.
    static var configuration: ServiceConfiguration { reader.configuration }

    private static var configuredDirectory: Result<String, OutboxLocationRules.Problem> {
        if let problem = reader.problems.first { return .failure(.init(reason: problem.description)) }
        return .success(configuration.stateDirectory)
    }

    private static let reader = ServeSources(config: nil, options: []).read()
}
