// SPDX-License-Identifier: Apache-2.0

import EventLoop
import ReachabilityCore
import Service
import ServiceCore
import SessionCore
import TestSupport
import Testing

@Suite("Telemetry: sampling and storing", .timeLimit(.minutes(10)))
struct TelemetryReporterTests {
    @Test(
        "OBX-113 five samples of a minute each are stored as one batch, and the loop wakes up once a minute")
    func batches() async throws {
        let lab = try await TelemetryLab()
        for minute in 1...4 {
            #expect(await lab.advance(60) == Double(60 * minute + 60))
            #expect(lab.batches.elements.isEmpty)
        }
        for _ in 0..<7 { await lab.advance(60) }
        let batches = lab.batches.elements
        #expect(
            batches.map { lab.seconds($0.times) } == [[60, 120, 180, 240, 300], [360, 420, 480, 540, 600]])
        #expect(
            batches[1].metrics[1].series[0].points.map(\.number)
                == [6, 7, 8, 9, 10].map { MetricNumber.whole($0) })
        #expect(batches.allSatisfy { $0.start == 1_767_312_000_000_000_000 })
        // A machine that was suspended has missed samples, which are not made up for.
        #expect(await lab.advance(600) == 1320)
        #expect(lab.batches.elements.last.map { lab.seconds($0.times) } == [660, 1260])
        await lab.bench.stop()
    }

    @Test("OBX-114 without a server nothing is sampled and no timer set; SIGHUP begins it and ends it")
    func off() async throws {
        let lab = try await TelemetryLab { _ in }
        #expect(await lab.advance(3600) == nil)
        try await lab.bench.notify(.at(1, .wired, event: .initial))
        #expect(try await lab.bench.ask { $0.stateLine } == nil)
        try await lab.reload { $0.remoteWrite = "http://127.0.0.1:1" }
        #expect(await lab.advance(60) == 3720)
        try await lab.reload {
            $0.remoteWrite = "http://127.0.0.1:1"
            $0.every = .seconds(60)
        }
        #expect(await lab.advance(60) == 3780)
        #expect(lab.batches.elements.map { lab.seconds($0.times) } == [[3660, 3720]])
        #expect(lab.settings.elements.map(\.every) == [.seconds(60)])
        try await lab.reload { _ in }
        #expect(await lab.advance(3600) == nil)
        await lab.bench.stop()
        #expect(lab.batches.elements.count == 1)
    }

    @Test(
        "OBX-115 what the disk refuses stays in memory and is stored with the next samples; the log says it once"
    )
    func fullDisk() async throws {
        let lab = try await TelemetryLab { settings in
            settings.otlp = "http://127.0.0.1:1"
            settings.every = .seconds(120)
        }
        lab.fail("the disk is full")
        for _ in 0..<4 { await lab.advance(60) }
        #expect(lab.batches.elements.map(\.times.count) == [2, 3, 4])
        #expect(lab.bench.log.elements == ["warning: telemetry: the disk is full"])
        lab.fail(nil)
        for _ in 0..<3 { await lab.advance(60) }
        #expect(
            lab.batches.elements.dropFirst(3).map { lab.seconds($0.times) } == [
                [60, 120, 180, 240, 300], [360, 420],
            ])
        #expect(lab.bench.log.elements.last == "notice: telemetry: samples are stored again")
        await lab.bench.stop()
    }

    @Test(
        "OBX-116 at the end a last sample is taken, the series end, and the service waits until all is stored"
    )
    func end() async throws {
        let lab = try await TelemetryLab { settings in
            settings.otlp = "http://127.0.0.1:1"
            settings.every = .seconds(60)
        }
        lab.hold(true)
        await lab.advance(60)
        await lab.advance(60)
        let ended = EventLog<Bool>()
        _ = try await lab.bench.ask { $0.stop { ended.append(true) } }
        // The first batch is still being stored.
        #expect(lab.batches.elements.count == 1 && ended.elements.isEmpty)
        lab.pending.elements[0].perform { $0.call(nil) }
        let batches = await lab.batches.wait(forCount: 2)
        #expect(ended.elements.isEmpty)
        #expect(lab.seconds(batches[1].times) == [120, 120.001, 120.002])
        #expect(batches[1].metrics[0].series[0].points.map(\.number) == [.whole(2), .whole(3), nil])
        lab.pending.elements[1].perform { $0.call(nil) }
        await ended.wait(forCount: 1)
        #expect(await lab.advance(3600) == nil && lab.batches.elements.count == 2)
    }

    @Test("OBX-117 a clock that was not set yet: samples wait in memory, and get right times once it is")
    func clock() async throws {
        let lab = try await TelemetryLab(isClockSet: false) { settings in
            settings.otlp = "http://127.0.0.1:1"
            settings.every = .seconds(60)
        }
        for _ in 0..<3 { await lab.advance(60) }
        #expect(lab.batches.elements.isEmpty)
        lab.setClock()
        await lab.advance(60)
        #expect(lab.batches.elements.map { lab.seconds($0.times) } == [[60, 120, 180, 240]])
        #expect(lab.batches.elements[0].start == 1_767_312_000_000_000_000)
        await lab.bench.stop()
    }

    @Test(
        "OBX-118 each change has its own time: a record with its reason, and a sample of what it has changed")
    func changes() async throws {
        let lab = try await TelemetryLab()
        await lab.advance(10)
        try await lab.bench.notify(.at(10, .wired, event: .initial))
        await lab.advance(5)
        try await lab.bench.notify(.at(15, .unreachable, was: .wired, reason: "eth0: no carrier"))
        await lab.advance(5)
        _ = try await lab.bench.ask { part in
            var change = CommittedChange.at(20, .wired)
            change.internet = .limited
            part.internetChanged(change)
            // The same once more is no change.
            part.internetChanged(change)
        }
        await lab.advance(40)
        for _ in 0..<4 { await lab.advance(60) }
        let batch = try #require(lab.batches.elements.first)
        #expect(lab.seconds(batch.changes.map(\.time)) == [10, 15, 20])
        #expect(
            batch.changes.map(\.change.sentence) == [
                "status wired on eth0: a reason (generation 11)",
                "status unreachable, was wired: eth0: no carrier (generation 16)",
                "internet limited: \(InternetState.limited.explanation)",
            ])
        #expect(lab.seconds(batch.times).prefix(3) == [10, 15, 60])
        let (status, wakeups) = (batch.metrics[0], batch.metrics[1])
        #expect(
            status.name == "reach_status"
                && status.series[0].points.count == wakeups.series[0].points.count + 2)
        #expect(status.series[0].points.allSatisfy { $0.number != nil })
        await lab.bench.stop()
    }

    @Test(
        "OBX-119 the first pauses are a random part, so that a fleet with one power line does not report at once"
    )
    func share() async throws {
        let lab = try await TelemetryLab(share: 0.25)
        #expect(await lab.advance(0) == 15)
        #expect(await lab.advance(15) == 75)
        #expect(await lab.advance(60) == 135)
        #expect(lab.batches.elements.map { lab.seconds($0.times) } == [[15, 75]])
        await lab.bench.stop()
    }

    @Test("OBX-120 more samples than fit into a batch are stored before their time")
    func early() async throws {
        let lab = try await TelemetryLab { settings in
            settings.otlp = "http://127.0.0.1:1"
            settings.interval = .seconds(1)
            settings.every = .seconds(86_400)
        }
        for _ in 0..<TelemetryReporter.samplesPerBatch { await lab.advance(1) }
        #expect(lab.batches.elements.map(\.times.count) == [TelemetryReporter.samplesPerBatch])
        #expect(
            try await lab.bench.ask { $0.stateLine }?.hasPrefix("0 samples and 0 changes in memory") == true)
        await lab.bench.stop()
    }
}
