// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
import TestSupport

/// The built program as a service in a network namespace, and its notifications to the service manager.
final class ServeLab: Sendable {
    let lab: NetworkLab
    let folder: String
    let socket: String
    /// The notifications, each as it came.
    let notices = EventLog<String>()
    let service: RunningProgram
    /// The command that started it.
    let command: [String]
    private let notify: Int32

    /// Starts the service; returns when it is ready.
    ///
    /// - Parameters:
    ///   - environment: more variables, as `NAME=value`.
    ///   - state: its state directory; nil for one of its own.
    ///   - wrapper: a command that starts the program.
    convenience init(
        _ fixture: NetworkLab.Fixture = .f1, environment: [String] = [], wrapper: [String] = [],
        state: String? = nil, options: [String] = []
    ) async throws {
        try await self.init(
            in: NetworkLab(fixture), environment: environment, wrapper: wrapper, state: state,
            options: options)
    }

    /// The same in a network that is there, perhaps with servers that the service asks as soon as it runs.
    init(
        in lab: NetworkLab, environment: [String] = [], wrapper: [String] = [], state: String? = nil,
        options: [String] = []
    ) async throws {
        self.lab = lab
        var template = Array("\(TemporaryFolder.path)/serve.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw LabError("mkdtemp", errno: errno) }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        chmod(folder, 0o755)
        socket = folder + "/run/reach.varlink"
        let path = folder + "/notify"
        let (notices, reactor) = (notices, lab.near.reactor)
        notify = try await lab.near.perform { try Self.listen(path, reactor, notices) }
        command =
            ["env", "NOTIFY_SOCKET=\(path)"] + environment + wrapper + [
                BuiltProgram.reach, "serve", "--socket", socket, "--state-directory",
                state ?? folder + "/state",
            ] + options
        service = try await lab.near.start(command)
        guard await notices.comes({ $0.contains { $0.hasPrefix("READY=1") } }) else {
            throw LabError("the service does not become ready: \(service.standardError)")
        }
    }

    /// One call, printed as JSON or as the name of its error.
    static let call = """
        import json, socket, sys
        client = socket.socket(socket.AF_UNIX)
        client.connect(sys.argv[1])
        call = {"method": "io.reach.Reachability." + sys.argv[2], "parameters": json.loads(sys.argv[3])}
        client.sendall(json.dumps(call).encode() + b"\\0")
        reply = b""
        while not reply.endswith(b"\\0"):
            reply += client.recv(65536)
        reply = json.loads(reply[:-1])
        print(reply.get("error") or json.dumps(reply["parameters"]))
        """

    /// Calls a method of the service.
    func ask(_ method: String, _ parameters: String = "{}") async throws -> String {
        try await lab.near.run(["/usr/bin/python3", "-c", Self.call, socket, method, parameters])
    }

    /// Removes the folder.
    func remove() async throws {
        try await lab.near.perform { [reactor = lab.near.reactor, notify] in
            reactor.unwatch(notify)
            close(notify)
        }
        try await lab.near.run("rm", "-rf", folder)
    }

    /// Ends the service and removes the folder.
    func stop() async throws -> TestSupport.ExitStatus {
        service.terminate()
        let status = try await service.status()
        try await remove()
        return status
    }

    private static func listen(
        _ path: String, _ reactor: Reactor, _ notices: EventLog<String>
    ) throws -> Int32 {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = Glibc.socket(AF_UNIX, type, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let bound = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else { throw LabError("binding \(path)", errno: errno) }
        try reactor.watch(number, for: .readable) { _ in
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(number, &bytes, bytes.count, 0)
            if count > 0 { notices.append(String(decoding: bytes.prefix(count), as: UTF8.self)) }
        }
        return number
    }
}

extension EventLog where Element == String {
    /// Waits until the elements satisfy `predicate`; false if they do not within a minute.
    func comes(_ predicate: @escaping @Sendable ([String]) -> Bool) async -> Bool {
        predicate(await wait { predicate($0) })
    }
}
