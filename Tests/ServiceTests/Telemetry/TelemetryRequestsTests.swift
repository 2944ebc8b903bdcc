// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import FoundationEssentials
import Outbox
import ReachabilityCore
import ServiceCore
import SessionCore
import SessionManager
import Storage
import TestSupport
import Testing

@testable import Service

@Suite("Telemetry: requests in the outbox", .timeLimit(.minutes(10)))
struct TelemetryRequestsTests {
    private let resource = TelemetryResource(version: "1.2.3", host: "h", id: nil)

    private func log(_ time: Int64 = 0) -> TelemetryLog {
        var families = MetricFamilies()
        families.write("reach_wakeups_total", .counter, "", .whole(7))
        var log = TelemetryLog()
        log.sample(families.all, at: time, isWhole: true)
        return log
    }

    private func requests(
        _ log: TelemetryLog, _ change: (inout ServiceConfiguration.Telemetry) -> Void
    ) throws -> [OutboxRequest] {
        var settings = ServiceConfiguration.Telemetry()
        change(&settings)
        return try TelemetryRequests(
            batch: log.batch(offset: 0, start: 0), resource: resource, settings: settings
        ).requests()
    }

    @Test(
        "OBX-121 a request for each kind of server, in lanes of their own, with fields, secrets and a limit of time"
    )
    func content() throws {
        var log = log()
        _ = log.add(TelemetryChange(.at(1, .wired), boot: 0))
        let all = try requests(log) { settings in
            settings.otlp = "http://127.0.0.1:4318/otlp"
            settings.remoteWrite = "http://127.0.0.1:9090/api/v1/write"
            settings.headers = ["X-Scope-OrgID: fleet"]
            settings.secrets = ["Authorization: Bearer file:/etc/token"]
            settings.network = .notExpensive
            settings.expires = .seconds(3600)
        }
        #expect(
            all.map(\.url.absoluteString) == [
                "http://127.0.0.1:4318/otlp/v1/metrics", "http://127.0.0.1:4318/otlp/v1/logs",
                "http://127.0.0.1:9090/api/v1/write",
            ])
        #expect(all.map(\.lane) == ["telemetry", "telemetry", "telemetry-remote-write"])
        for request in all {
            #expect(request.method == .post && request.networkCondition == .notExpensive)
            #expect(request.headerFields[.init("X-Scope-OrgID") ?? .eTag] == "fleet")
            #expect(request.headerFields[.userAgent]?.hasPrefix("reach/1.2.3") == true)
            #expect(
                request.secretFields == [
                    SecretField(name: "Authorization", prefix: "Bearer ", source: "file", key: "/etc/token")
                ])
            let left = try #require(request.expires?.timeIntervalSinceNow)
            #expect((0...3600).contains(left))
        }
        #expect(all[0].headerFields[.contentType] == "application/json")
        #expect(all[0].headerFields[.contentEncoding] == "gzip")
        #expect(all[2].headerFields[.contentType] == "application/x-protobuf")
        #expect(all[2].headerFields[.contentEncoding] == "snappy")
        #expect(all[2].headerFields[.init("X-Prometheus-Remote-Write-Version") ?? .eTag] == "0.1.0")
        guard case .data(let body)? = all[0].body else { return #expect(Bool(false)) }
        #expect(Array(body.prefix(2)) == [0x1F, 0x8B])
    }

    @Test("OBX-122 a server that takes metrics alone gets no log records, and without changes no server does")
    func metricsAlone() throws {
        var log = log()
        #expect(try requests(log) { $0.otlp = "http://c" }.count == 1)
        _ = log.add(TelemetryChange(.at(1, .wired), boot: 0))
        #expect(try requests(log) { $0.otlp = "http://c" }.count == 2)
        let alone = try requests(log) { settings in
            settings.otlp = "http://c"
            settings.logs = false
        }
        #expect(alone.map(\.url.absoluteString) == ["http://c/v1/metrics"])
        #expect(try requests(log) { $0.remoteWrite = "http://c/write" }.count == 1)
    }

    @Test(
        "OBX-123 what is handed over while the outbox is being opened, or ends, is on the disk when it has ended"
    )
    func opening() async throws {
        let folder = try ScratchFolder("reach-service")
        let bench = try await ServiceBench(in: folder) { _, _, _ in OutboxService() }
        let stored = EventLog<String?>()
        let (resource, log) = (resource, log())
        _ = try await bench.ask { service in
            var settings = ServiceConfiguration.Telemetry()
            settings.remoteWrite = "http://127.0.0.1:1/write"
            for _ in 0..<3 {
                service.store(log.batch(offset: 0, start: 0), resource, settings) { stored.append($0) }
            }
        }
        await bench.stop()
        #expect(stored.elements == [nil, nil, nil])
        let database = try Database(reading: folder("outbox/outbox.sqlite"))
        #expect(
            try database.integer(
                "SELECT count(*) FROM entries WHERE lane = 'telemetry-remote-write' AND expires > created")
                == 3)
        // Afterwards there is no outbox.
        _ = try await bench.ask { service in
            service.store(log.batch(offset: 0, start: 0), resource, .init()) { stored.append($0) }
        }
        #expect(stored.elements.last == "the service ends")
    }

    @Test("OBX-124 an outbox that cannot be opened tells why, and the end does not wait for it")
    func closed() async throws {
        let folder = try ScratchFolder("reach-service")
        // A file in the folder's place is an obstacle even for root.
        try "".write(toFile: folder("outbox"), atomically: false, encoding: .utf8)
        let stored = EventLog<String?>()
        let (resource, log, loop) = (resource, log(), try Reactor(name: "telemetry-requests"))
        let bench = try await ServiceBench(in: folder, reactor: loop) { _, _, _ in
            let service = OutboxService()
            // Runs between the start and the result of the first attempt, which comes from another thread.
            LoopBound(service, to: loop).perform { service in
                service.store(log.batch(offset: 0, start: 0), resource, .init()) { stored.append($0) }
            }
            return service
        }
        #expect(await stored.wait(forCount: 1).first == "the outbox is not open")
        await bench.log.wait(forCount: 1)
        _ = try await bench.ask { service in
            service.store(log.batch(offset: 0, start: 0), resource, .init()) { stored.append($0) }
        }
        #expect(await stored.wait(forCount: 2).last.map { $0 != nil } == true)
        await bench.stop()
    }
}
