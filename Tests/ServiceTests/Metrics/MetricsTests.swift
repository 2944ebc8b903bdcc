// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import ReachabilityCore
import Service
import ServiceCore
import SessionCore
import TestSupport
import Testing

/// Prometheus and its tools (Debian's package prometheus), which may be missing unless they are required.
private enum Prometheus {
    static let isThere = NetworkLab.isRequired || access("/usr/bin/prometheus", X_OK) == 0
    static let reason: Comment = "Prometheus is not installed (apt install prometheus)"
}

@Suite("Metrics: who fetches them", .timeLimit(.minutes(10)))
struct MetricsListenerTests {
    private func bench(
        _ settings: ServiceConfiguration.Metrics, reactor: Reactor? = nil
    ) async throws -> ServiceBench<MetricsReporter> {
        try await ServiceBench(reactor: reactor, internet: .full) { folder, files, counters in
            var settings = settings
            if settings.file.isEmpty == false { settings.file = folder("reach.prom") }
            let part = MetricsReporter(settings, version: "1.2.3", files: files, counters: counters)
            part.outbox = {
                ServiceMetrics.Outbox(depth: 2, deadLetters: 1, oldest: .seconds(3), bytes: 4096)
            }
            part.transfers = { ServiceMetrics.Transfers() }
            return part
        }
    }

    private func listening(clients: Int64 = 8) -> ServiceConfiguration.Metrics {
        var settings = ServiceConfiguration.Metrics()
        settings.listen = Endpoint("127.0.0.1:0")
        settings.clients = clients
        return settings
    }

    /// Sends bytes and reads until the other side closes; on the test's own thread.
    private func ask(_ port: UInt16, _ text: String) throws -> String {
        let socket = try connect(port)
        #expect(send(socket.number, text, text.utf8.count, Int32(MSG_NOSIGNAL)) == text.utf8.count)
        return String(decoding: rest(of: socket.number), as: UTF8.self)
    }

    private func rest(of socket: Int32) -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(socket, &buffer, buffer.count)
            guard count > 0 else { return all }
            all += buffer.prefix(count)
        }
    }

    private func connect(_ port: UInt16) throws -> OwnedDescriptor {
        let socket = try OwnedDescriptor(
            "socket", Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let outcome = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        #expect(outcome == 0)
        return socket
    }

    @Test("GET and HEAD of /metrics are answered, everything else refused")
    func answers() async throws {
        let bench = try await bench(listening())
        try await bench.notify(.at(1, .unreachable, event: .initial), .at(2, .wired, was: .unreachable))
        let port = try #require(try await bench.ask { $0.port })
        let get = try ask(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(get.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(get.contains("\nreach_status{status=\"wired\"} 1\n"))
        #expect(get.contains("\nreach_status_changes_total{status=\"wired\"} 1\n"))
        #expect(get.contains("\nreach_outbox_entries 2\n"))
        #expect(get.contains("\nreach_internet{state=\"full\"} 1\n"))
        #expect(get.contains("\nreach_build_info{version=\"1.2.3\"} 1\n"))
        #expect(try ask(port, "HEAD /metrics HTTP/1.0\r\n\r\n").hasSuffix("\r\n\r\n"))
        #expect(try ask(port, "GET / HTTP/1.0\r\n\r\n").hasPrefix("HTTP/1.1 404 "))
        #expect(try ask(port, "DELETE /metrics HTTP/1.0\r\n\r\n").hasPrefix("HTTP/1.1 405 "))
        #expect(try ask(port, "\u{16}\u{3}\u{1}\n\n").hasPrefix("HTTP/1.1 400 "))
        let long = "GET /metrics HTTP/1.1\r\nX: " + String(repeating: "a", count: MetricsRequest.limit)
        #expect(try ask(port, long).hasPrefix("HTTP/1.1 431 "))
        await bench.stop()
    }

    @Test("who comes when all places are taken is turned away, and a place that is left is free again")
    func limits() async throws {
        let bench = try await bench(listening(clients: 2))
        let port = try #require(try await bench.ask { $0.port })
        let first = try connect(port)
        let second = try connect(port)
        let third = try connect(port)
        // Closed without an answer, which proves that the others are connected.
        #expect(rest(of: third.number) == [])
        #expect(send(first.number, "GET / HTTP/1.0\n\n", 16, Int32(MSG_NOSIGNAL)) == 16)
        #expect(String(decoding: rest(of: first.number), as: UTF8.self).hasPrefix("HTTP/1.1 404 "))
        #expect(try ask(port, "GET /metrics HTTP/1.0\n\n").hasPrefix("HTTP/1.1 200 "))
        withExtendedLifetime(second) {}
        await bench.stop()
    }

    @Test("an address that is taken is an error that names it")
    func taken() async throws {
        let first = try await bench(listening())
        let port = try #require(try await first.ask { $0.port })
        var settings = listening()
        settings.listen?.port = port
        let error = await #expect(throws: ServiceError.self) { try await bench(settings) }
        #expect(error?.description.hasPrefix("metrics.listen: 127.0.0.1:\(port): bind: ") == true)
        await first.stop()
    }

    @Test("a file for the collector, with each change of the status, and none when the service has ended")
    func file() async throws {
        var settings = ServiceConfiguration.Metrics()
        settings.file = "in the folder"
        settings.interval = .seconds(3600)
        let bench = try await bench(settings)
        try await bench.notify(.at(2, .wifi, was: .unreachable))
        try await bench.files.result {}
        let text = try String(contentsOfFile: bench.folder("reach.prom"), encoding: .utf8)
        #expect(text.contains("reach_status{status=\"wifi\"} 1\n"))
        #expect(bench.folder.names == ["reach.prom"])
        await bench.stop()
        #expect(bench.folder.names == [])
    }

    @Test(
        "ten thousand changes of the status: the file is written in its own time, and is the newest in the end",
        arguments: [Duration.seconds(3600), .milliseconds(20)])
    func storm(pace: Duration) async throws {
        var settings = ServiceConfiguration.Metrics()
        settings.file = "in the folder"
        settings.interval = .seconds(3600)
        let bench = try await bench(settings)
        let written = EventLog<String>()
        _ = try await bench.ask { part in
            part.pace = pace
            part.wrote = { written.append(String(decoding: $0, as: UTF8.self)) }
        }
        let began = ContinuousClock.now
        let changes = CommittedChange.storm(10_000)
        for start in stride(from: 0, to: changes.count, by: 100) {
            try await bench.notify(Array(changes[start..<start + 100]))
            try await bench.files.result {}
        }
        let newest = "\nreach_status_changes_total{status=\"wired\"} 5000\n"
        if pace < .seconds(1) { await written.wait { $0.last?.contains(newest) == true } }
        #expect(written.elements.count <= 2 + Int((ContinuousClock.now - began) / pace))
        if pace < .seconds(1) {
            for _ in 0..<3 {
                try await bench.files.result {}
                try await bench.loop.result {}
            }
            let text = try String(contentsOfFile: bench.folder("reach.prom"), encoding: .utf8)
            #expect(text.contains(newest) && text.contains("\nreach_status{status=\"wired\"} 1\n"))
        }
        await bench.stop()
        #expect(bench.folder.names == [])
    }

    @Test("a configuration that is read again moves the file; the one before goes")
    func movedFile() async throws {
        var settings = ServiceConfiguration.Metrics()
        settings.file = "in the folder"
        let bench = try await bench(settings)
        try await bench.notify(.at(2, .wifi, was: .unreachable))
        let path = bench.folder("other.prom")
        _ = try await bench.ask { part in
            var configuration = ServiceConfiguration()
            configuration.metrics.file = path
            part.reload(configuration)
        }
        try await bench.notify(.at(3, .wired, was: .wifi))
        // Writing and removing go to the thread for files and back, one after the other.
        for _ in 0..<3 {
            try await bench.files.result {}
            try await bench.loop.result {}
        }
        #expect(bench.folder.names == ["other.prom"])
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("reach_status{status=\"wired\"} 1\n"))
        await bench.stop()
        #expect(bench.folder.names == [])
    }

    @Test("promtool finds nothing wrong", .enabled(if: Prometheus.isThere, Prometheus.reason))
    func promtool() async throws {
        let bench = try await bench(listening())
        try await bench.notify(.at(2, .wired, was: .unreachable))
        let port = try #require(try await bench.ask { $0.port })
        let answer = try ask(port, "GET /metrics HTTP/1.0\n\n")
        // Only the header's lines end with CR LF, which is one character.
        let content = String(answer.split(separator: "\r\n").last ?? "")
        let result = try await Reactor(name: "tools").run(
            ["promtool", "check", "metrics"], input: Array(content.utf8))
        #expect(result.status == .exited(0), "\(result.text)\(result.errors)")
        #expect(result.text + result.errors == "")
        await bench.stop()
    }

    @Test(
        "a real Prometheus fetches them",
        .enabled(if: Prometheus.isThere && NetworkLab.isAvailable, Prometheus.reason))
    func scrape() async throws {
        let namespace = try await NetworkNamespace()
        try await namespace.ip("link set lo up")
        var settings = listening()
        settings.listen = Endpoint("127.0.0.1:9464")
        let bench = try await bench(settings, reactor: namespace.reactor)
        try await bench.notify(.at(2, .wired, was: .unreachable))
        let answers = EventLog<Bool>()
        _ = try await bench.ask { $0.answered = { answers.append(true) } }
        let configuration = """
            global: {scrape_interval: 1s, scrape_timeout: 1s}
            scrape_configs: [{job_name: reach, static_configs: [{targets: ['127.0.0.1:9464']}]}]
            """
        try configuration.write(toFile: bench.folder("prometheus.yml"), atomically: false, encoding: .utf8)
        let program = try await namespace.start(
            "prometheus", "--config.file=\(bench.folder("prometheus.yml"))",
            "--storage.tsdb.path=\(bench.folder("data"))", "--web.listen-address=127.0.0.1:9090")
        // It scrapes again only after it has stored the earlier result.
        #expect(await answers.wait(forCount: 2).count >= 2, "\(program.standardError)")
        let answer = try await namespace.run(
            "curl", "-s", "--retry", "20", "--retry-connrefused", "--retry-delay", "1",
            "http://127.0.0.1:9090/api/v1/query?query=reach_status==1")
        #expect(answer.contains("\"status\":\"wired\""), "\(answer) \(program.standardError)")
        #expect(answer.contains("\"job\":\"reach\""))
        program.terminate()
        _ = try await program.status()
        await bench.stop()
    }
}
