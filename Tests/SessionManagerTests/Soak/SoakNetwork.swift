// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Reachability
import TestSupport

/// Two paths to a server that misbehaves (`Tests/Origin/erratic`).
final class SoakNetwork {
    let lab: NetworkLab
    let folder: ScratchFolder
    /// The lines of all servers so far.
    let lines = EventLog<String>()
    private var server: RunningProgram?
    private var proxy: RunningProgram?
    private var names: SoakNames?
    private var reading: Task<Void, Never>?

    init() async throws {
        folder = try ScratchFolder()
        lab = try await NetworkLab(.f2)
        try await lab.far.ip("addr add 10.9.0.1/32 dev lo")
        try await lab.far.run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", "2", "-subj", "/CN=10.9.0.1", "-addext", "subjectAltName=IP:10.9.0.1", "-keyout",
            folder("server.key"), "-out", folder("server.pem"))
        try await start()
        proxy = try await SoakProxy.start(lab.far, folder)
        names = try await SoakNames.start(lab.near)
    }

    /// Who follows this side's network; started.
    func monitor() -> ReachabilityManager {
        let reactor = lab.near.reactor
        var environment = MonitorEnvironment.kernel
        environment.reactor = { () throws(ReachabilityError) -> Reactor in reactor }
        let monitor = ReachabilityManager(.general, .init(), .own, environment)
        monitor.startMonitoring()
        return monitor
    }

    func url(_ transfer: SoakTransfer) -> String {
        let origin =
            switch transfer.way {
            case .plain: "http://10.9.0.1:8080"
            case .secure: "https://10.9.0.1:8443"
            case .named: names == nil ? "http://10.9.0.1:8080" : "http://soak.test:8080"
            case .multiplexed: "https://10.9.0.1:8444"
            }
        return origin + transfer.path
    }

    private func start() async throws {
        let script =
            "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Origin/erratic"
        let new = try await lab.far.start([
            "/usr/bin/python3", "-B", script, "10.9.0.1", "8080", "8443", folder("server.pem"),
            folder("server.key"),
        ])
        guard await new.output.wait(forCount: 1).first == "ready" else {
            throw LabError("the server does not start: \(new.standardError)")
        }
        server = new
        reading = Task { [lines] in for await line in new.lines { lines.append(line) } }
    }

    /// Ends the server; what it has told is there then.
    func stop() async throws {
        server?.terminate(signal: SIGKILL)
        _ = try await server?.status()
        await reading?.value
        server = nil
    }

    /// Ends what stands beside the server.
    func close() async throws {
        for program in [proxy, names?.program] {
            program?.terminate()
            _ = try await program?.status()
        }
    }

    func begin(_ fault: SoakFault) async throws {
        try await ip(fault.begin)
        switch fault {
        case .connectionsReset: server?.terminate(signal: SIGUSR1)
        case .serverStalls: await signal(SIGUSR2, "stalls")
        case .namesFail: await names?.fail(true)
        case .serverRestarted:
            try await stop()
            try await start()
        default: break
        }
    }

    /// Signals are no queue: each is answered before the next.
    private func signal(_ signal: Int32, _ answer: String) async {
        let count = lines.elements.count { $0 == answer }
        server?.terminate(signal: signal)
        await lines.wait { $0.count { $0 == answer } > count }
    }

    func end(_ fault: SoakFault) async throws {
        if fault == .serverStalls { await signal(SIGHUP, "goes on") }
        if fault == .namesFail { await names?.fail(false) }
        try await ip(fault.end)
    }

    /// Puts everything right.
    func mend() async throws {
        try await ip((SoakFault.first + SoakFault.second, ["link set pa up", "link set pb up"]))
    }

    /// Goes on after what cannot be done: another fault has done it already.
    private func ip(_ commands: (near: [String], far: [String])) async throws {
        for (namespace, lines) in [(lab.near, commands.near), (lab.far, commands.far)] where !lines.isEmpty {
            let input = lines.joined(separator: "\n")
            _ = try await namespace.reactor.run(["ip", "-force", "-batch", "-"], input: Array(input.utf8))
        }
    }
}
