// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import reach

/// A running service after a change of its configuration, or with a server to probe.
@Suite(
    "reach serve: configuration and probe", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct ServeReloadTests {
    private let folder: ScratchFolder
    private var file: String { folder("reach.toml") }

    init() throws { folder = try ScratchFolder("reach-reload") }

    private func write(_ text: String) throws {
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }

    /// Sends SIGHUP and waits for its answer; returns the log's new lines.
    private func reload(_ lab: ServeLab) async throws {
        let before = lab.notices.elements.count { $0.hasPrefix("RELOADING=1") }
        lab.service.terminate(signal: SIGHUP)
        #expect(await lab.notices.comes { $0.count { $0.hasPrefix("RELOADING=1") } > before })
    }

    @Test("SIGHUP: hooks, metrics, limits and the log change; a mistake changes nothing and is logged")
    func reloading() async throws {
        try write("[outbox]\nentries = 1\n")
        let lab = try await ServeLab(options: ["--config", file])
        let prom = lab.folder + "/reach.prom"
        try write("[metrics]\nfile = \"\(prom)\"\n[outbox]\nentries = 2\n[monitor]\nmark = 7\n")
        try await reload(lab)
        #expect(lab.service.standardError.contains("configuration: changed: outbox.entries, metrics.file"))
        #expect(lab.service.standardError.contains("in force only after a restart: monitor.mark"))
        for n in 1...2 { #expect(try await enqueue(lab, n).contains("\"id\"")) }
        #expect(try await enqueue(lab, 3).contains("Unavailable"))
        // Another thread writes the file, without an event for clients.
        for _ in 0..<1_000 where access(prom, F_OK) != 0 { try await lab.lab.near.run("true") }
        #expect(access(prom, F_OK) == 0)
        try write("[outbox]\nentries = \"many\"\n")
        try await reload(lab)
        #expect(
            lab.service.standardError.contains(
                "\(file):2: outbox.entries: \"many\" is not allowed; allowed is a whole number"))
        #expect(try await enqueue(lab, 3).contains("Unavailable"))
        try write("[log]\nlevel = \"error\"\n")
        try await reload(lab)
        #expect(try await enqueue(lab, 3).contains("\"id\""))
        let length = lab.service.standardError.utf8.count
        try await lab.lab.far.ip("link set p0 down")
        #expect(await lab.notices.comes { $0.contains { $0.hasPrefix("STATUS=unreachable") } })
        #expect(lab.service.standardError.utf8.count == length)
        #expect(try await lab.stop() == .exited(0))
    }

    private func enqueue(_ lab: ServeLab, _ number: Int) async throws -> String {
        try await lab.ask("Enqueue", #"{"url":"http://192.0.2.1/\#(number)"}"#)
    }

    @Test(
        "the server that is asked: GetStatus, Monitor, status.json, metrics, the log; and no more once it is not named"
    )
    func probe() async throws {
        try write("[probe]\nurl = \"http://10.0.0.1:8080/ok\"\nstatus = 204\n")
        let lab = try await ServeLab(options: ["--config", file])
        // No server answers yet.
        #expect(await comes(lab, "limited"))
        let watch = try await lab.lab.near.start([
            "/usr/bin/python3", "-u", "-c", ServeLab.watching, lab.socket,
        ])
        #expect(await watch.output.comes { $0.contains("initial limited") })
        let server = try await lab.lab.startOrigin()
        #expect(await watch.output.comes { $0.contains("internet full") })
        #expect(await comes(lab, "full"))
        #expect(await server.output.comes { $0.contains { $0.hasPrefix("GET /ok ") } })
        let status = try String(contentsOfFile: lab.folder + "/run/status.json", encoding: .utf8)
        #expect(status.contains(#""internet":"full""#))
        #expect(lab.service.standardError.contains("internet full: the server answers"))
        try write("")
        try await reload(lab)
        #expect(try await lab.ask("GetStatus").contains(#""internet": null"#))
        watch.terminate()
        server.terminate()
        #expect(try await lab.stop() == .exited(0))
    }

    /// Repeats the query until the state is known.
    private func comes(_ lab: ServeLab, _ state: String) async -> Bool {
        for _ in 0..<2_000 {
            if (try? await lab.ask("GetStatus"))?.contains("\"internet\": \"\(state)\"") == true {
                return true
            }
        }
        return false
    }

    @Test("FLD-111 SIGHUP: a group that is not there is named, and a pipe without a writer is not waited for")
    func unusable() async throws {
        try write("[outbox]\nentries = 1\n")
        let lab = try await ServeLab(options: ["--config", file])
        try write("[outbox]\ngroup = \"no-such-group\"\n")
        try await reload(lab)
        #expect(
            lab.service.standardError.contains(
                "\(file):2: outbox.group: there is no group 'no-such-group'"))
        try #require(unlink(file) == 0 && mkfifo(file, 0o600) == 0)
        try await reload(lab)
        #expect(
            lab.service.standardError.contains("\(file): it is a pipe, and no program has written to it\n"))
        #expect(try await lab.stop() == .exited(0))
    }
}

extension ServeLab {
    /// Prints the event and the internet of each change.
    static let watching = """
        import json, socket, sys
        client = socket.socket(socket.AF_UNIX)
        client.connect(sys.argv[1])
        client.sendall(b'{"method":"io.reach.Reachability.Monitor","more":true}\\0')
        rest = b""
        while True:
            piece = client.recv(65536)
            if not piece: break
            rest += piece
            while b"\\0" in rest:
                message, rest = rest.split(b"\\0", 1)
                change = json.loads(message)["parameters"]
                print(change["event"], change["internet"], flush=True)
        """
}
