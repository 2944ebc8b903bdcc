// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import SessionCore
import TestSupport
import Testing

@testable import reach

/// What a server gets of a device whose cable was out for a while.
@Suite(
    "reach serve: telemetry", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct ServeTelemetryTests {
    private static let hasPrometheus = NetworkLab.isRequired || access("/usr/bin/prometheus", X_OK) == 0

    private func lab(_ server: [String]) async throws -> ServeLab {
        try await ServeLab(
            options: server + ["--telemetry-interval", "1s", "--telemetry-every", "1s"])
    }

    /// Pulls the cable, waits until the outbox holds some requests, and puts it in again.
    private func outage(_ lab: ServeLab) async throws {
        try await lab.lab.far.ip("link set p0 down")
        #expect(await lab.notices.comes { $0.contains { $0.hasPrefix("STATUS=unreachable") } })
        var count: Int64 = 0
        for _ in 0..<2000 where count < 6 {
            let list = try JSONValue(parsing: Data(try await lab.ask("ListOutbox").utf8))
            if case .integer(let total)? = list["total"] { count = total }
        }
        #expect(count >= 6, "\(lab.service.standardError)")
        try await lab.lab.far.ip("link set p0 up")
        #expect(
            await lab.notices.comes { $0.last { $0.hasPrefix("STATUS=") }?.hasPrefix("STATUS=wired") == true }
        )
    }

    @Test(
        "OBX-127 a collector gets the samples of an outage afterwards, with their own times, in order, and each change with its reason"
    )
    func collector() async throws {
        let lab = try await lab([
            "--otlp", "http://10.0.0.1:4318", "--telemetry-header", "X-Fleet: a, b",
        ])
        let server = try await lab.lab.far.start("/usr/bin/python3", "-c", Self.collector)
        #expect(await server.output.comes { $0.first == "ready" }, "\(server.standardError)")
        // Before the outage.
        #expect(await server.output.comes { $0.contains { $0.hasPrefix("sample ") } })
        try await outage(lab)
        // The change back is the last record; then a later sample has to come.
        #expect(
            await server.output.comes { lines in
                guard let end = Self.change("wired", was: "unreachable", lines) else { return false }
                return Self.times(lines).contains { $0 > end }
            }, "\(server.output.elements) \(server.standardError)")
        let lines = server.output.elements
        // The cable may take an answer with it: that request comes again, whole.
        let times = Self.times(lines).reduce(into: [Int64]()) { if !$0.contains($1) { $0.append($1) } }
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(Self.times(lines))")
        let begin = try #require(Self.change("unreachable", was: "wired", lines))
        let end = try #require(Self.change("wired", was: "unreachable", lines))
        #expect(times.count { $0 > begin && $0 < end } >= 3, "\(begin) \(end) \(times)")
        #expect(lines.contains { $0.hasPrefix("change ") && $0.contains("v0: no carrier") })
        #expect(lines.contains("field a, b gzip application/json reach"))
        server.terminate()
        #expect(try await lab.stop() == .exited(0))
    }

    @Test(
        "OBX-128 Prometheus gets the samples of an outage by remote write afterwards, with their own times",
        .enabled(if: hasPrometheus, "Prometheus is not installed (apt install prometheus)"))
    func remoteWrite() async throws {
        let lab = try await lab(["--remote-write", "http://10.0.0.1:9090/api/v1/write"])
        let configuration = lab.folder + "/prometheus.yml"
        try "global: {}\n".write(toFile: configuration, atomically: false, encoding: .utf8)
        let server = try await lab.lab.far.start(
            "prometheus", "--config.file=\(configuration)", "--storage.tsdb.path=\(lab.folder)/data",
            "--web.listen-address=10.0.0.1:9090", "--web.enable-remote-write-receiver")
        _ = try await samples(lab, #"reach_status{status="wired"}"#) { !$0.isEmpty }
        try await outage(lab)
        let wired = try await samples(lab, #"reach_status{status="wired"}"#) { samples in
            samples.contains { $0.value == "0" } && samples.last?.value == "1"
        }
        let begin = try #require(wired.first { $0.value == "0" }?.time)
        let end = try #require(wired.last { $0.value == "0" }?.time)
        #expect(wired.count { $0.value == "0" } >= 3, "\(wired) \(server.standardError)")
        // Whole samples in between, too, of which nothing was told twice or out of order.
        let wakeups = try await samples(lab, "reach_wakeups_total") { !$0.isEmpty }
        #expect(wakeups.count { $0.time > begin && $0.time <= end } >= 3, "\(wakeups)")
        #expect(zip(wakeups, wakeups.dropFirst()).allSatisfy { $0.time < $1.time })
        #expect(!server.standardError.contains("from remote write"), "\(server.standardError)")
        let list = try await lab.ask("ListOutbox")
        #expect(!list.contains(#""state": "dead""#), "\(list)")
        server.terminate()
        #expect(try await lab.stop() == .exited(0))
    }

    /// All samples of a series, as they are stored, as soon as they satisfy `isEnough`.
    private func samples(
        _ lab: ServeLab, _ series: String, until isEnough: ([(time: Double, value: String)]) -> Bool
    ) async throws -> [(time: Double, value: String)] {
        var found: [(time: Double, value: String)] = []
        for _ in 0..<600 {
            let answer = try await lab.lab.far.run(
                "curl", "-s", "--retry", "60", "--retry-connrefused", "--retry-delay", "1", "-G",
                "--data-urlencode", "query=\(series)[1h]", "http://10.0.0.1:9090/api/v1/query")
            let json = try? JSONValue(parsing: Data(answer.utf8))
            let values = json?["data"]?["result"]?[0]?["values"]?.array ?? []
            found = values.compactMap { pair in
                guard let time = pair[0]?.double, let value = pair[1]?.string else { return nil }
                return (time, value)
            }
            if isEnough(found) { return found }
        }
        throw LabError("not what is expected of \(series): \(found)")
    }

    private static func times(_ lines: [String]) -> [Int64] {
        lines.filter { $0.hasPrefix("sample ") }.compactMap { Int64($0.dropFirst(7)) }
    }

    private static func change(_ status: String, was previous: String, _ lines: [String]) -> Int64? {
        let words = "status \(status)"
        let line = lines.first {
            $0.hasPrefix("change ") && $0.contains(words) && $0.contains("was \(previous)")
        }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int64($0) }
    }

    private static let collector = """
        import gzip, http.server, json
        class Collector(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                content = gzip.decompress(self.rfile.read(int(self.headers["Content-Length"])))
                document = json.loads(content)
                fields = [self.headers[name] for name in ("X-Fleet", "Content-Encoding", "Content-Type")]
                if self.path == "/v1/metrics":
                    resource, = document["resourceMetrics"]
                    service = resource["resource"]["attributes"][0]["value"]["stringValue"]
                    print("field", *fields, service, flush=True)
                    for metric in resource["scopeMetrics"][0]["metrics"]:
                        if metric["name"] == "reach_wakeups_total":
                            for point in metric["sum"]["dataPoints"]:
                                if "asInt" in point:
                                    print("sample", point["timeUnixNano"], flush=True)
                else:
                    assert self.path == "/v1/logs", self.path
                    for record in document["resourceLogs"][0]["scopeLogs"][0]["logRecords"]:
                        print("change", record["timeUnixNano"], record["body"]["stringValue"], flush=True)
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(b"{}")
            def log_message(self, *arguments): pass
        server = http.server.HTTPServer(("10.0.0.1", 4318), Collector)
        print("ready", flush=True)
        server.serve_forever()
        """
}
