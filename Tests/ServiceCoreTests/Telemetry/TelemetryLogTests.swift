// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import TestSupport
import Testing

@Suite("Telemetry: samples and changes in memory")
struct TelemetryLogTests {
    private func families(_ numbers: [String: UInt64]) -> [MetricFamily] {
        var families = MetricFamilies()
        families.begin("reach_a", .gauge, "")
        for (name, number) in numbers.sorted(by: { $0.key < $1.key }) {
            families.sample("reach_a", [("interface", name)], .whole(number))
        }
        families.write("reach_b", .gauge, "", .whole(1))
        return families.all
    }

    private func change(_ second: Int64) -> TelemetryChange {
        TelemetryChange(.at(second, .wired), boot: TelemetryLog.second(second))
    }

    @Test("OBX-108 times follow the wall clock of the moment in which they leave, and never stand still")
    func times() {
        var log = TelemetryLog()
        for boot in [5, 5, 4, 9] as [Int64] {
            log.sample(families([:]), at: boot * 1_000_000, isWhole: true)
        }
        _ = log.add(change(1))
        let batch = log.batch(offset: 1_000_000_000_000, start: 3)
        #expect(batch.times.map { $0 - 1_000_000_000_000 } == [5, 6, 7, 9].map { $0 * 1_000_000 })
        #expect(batch.start == 1_000_000_000_003)
        #expect(batch.changes.map(\.time) == [1_001_000_000_000])
    }

    @Test("OBX-109 what is on the disk is removed, and what came meanwhile stays")
    func removal() {
        var log = TelemetryLog()
        log.sample(families(["x": 1]), at: 1_000_000, isWhole: true)
        _ = log.add(change(1))
        let batch = log.batch
        log.sample(families(["x": 2]), at: 2_000_000, isWhole: true)
        _ = log.add(change(2))
        log.remove(batch)
        #expect(log.times == [2_000_000] && log.changes.map(\.boot) == [TelemetryLog.second(2)])
        #expect(log.metrics[0].series[0].points == [.init(sample: 1, number: .whole(2))])
        // Once more is no more.
        log.remove(batch)
        #expect(log.times.count == 1 && log.changes.count == 1)
        log.remove(log.batch)
        #expect(log.isEmpty)
        // A series that ends after its numbers have left ends in the next batch.
        log.sample(families([:]), at: 3_000_000, isWhole: true)
        #expect(log.metrics[0].series[0].points == [.init(sample: 2, number: nil)])
        log.remove(log.batch)
        #expect(log.metrics[0].series.isEmpty && !log.metrics[1].series.isEmpty)
    }

    @Test("OBX-110 a sample of some metrics ends no series of others; the last one ends all")
    func parts() {
        var log = TelemetryLog()
        log.sample(families(["x": 1, "y": 1]), at: 1_000_000, isWhole: true)
        log.sample(Array(families(["y": 2]).prefix(1)), at: 2_000_000, isWhole: false)
        #expect(log.metrics[0].series[0].points.map(\.number) == [.whole(1), nil])
        #expect(log.metrics[0].series[1].points.map(\.number) == [.whole(1), .whole(2)])
        #expect(log.metrics[1].series[0].points.count == 1)
        log.end(at: 2_000_000)
        #expect(log.metrics.flatMap(\.series).allSatisfy { $0.points.last?.number == nil })
        #expect(log.times == [1_000_000, 2_000_000, 3_000_000])
    }

    @Test("OBX-111 memory is bounded: the oldest samples go, and a storm of changes is only counted")
    func bounds() {
        var log = TelemetryLog()
        for number in 0..<TelemetryLog.limit + 5 {
            log.sample(families(["x": UInt64(number)]), at: Int64(number) * 1_000_000, isWhole: true)
        }
        #expect(log.times.count == TelemetryLog.limit && log.first == 5 && log.samplesDropped == 5)
        #expect(log.metrics[0].series[0].points.first?.number == .whole(5))
        let taken = (0..<1000).filter { log.add(change(Int64($0))) }
        #expect(taken.count == TelemetryLog.changesPerSample && log.changes.count == taken.count)
        #expect(log.changesLeftOut == 1000 - taken.count)
        log.sample(families([:]), at: 1_000_000_000_000, isWhole: true)
        let isAdded = log.add(change(1))
        #expect(isAdded)
    }

    @Test(
        "OBX-112 links that come and go: each series has the numbers of its samples, in order, and ends where it went",
        arguments: 0..<40)
    func model(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var log = TelemetryLog()
        var alive: Set<String> = []
        // What each series has to have sent in the end: nil for an end.
        var expected: [String: [(time: Int64, number: UInt64?)]] = [:]
        var written: [String: [[UInt64]]] = [:]
        for step in 0..<60 as Range<Int64> {
            let names = ["a", "b", "c", "d"].filter { _ in Bool.random(using: &random) }
            let numbers = Dictionary(
                uniqueKeysWithValues: names.map { ($0, UInt64.random(in: 0...9, using: &random)) })
            log.sample(families(numbers), at: step * 1_000_000, isWhole: true)
            for (name, number) in numbers { expected[name, default: []].append((step, number)) }
            for name in alive.subtracting(names) { expected[name, default: []].append((step, nil)) }
            alive = Set(names)
            guard step == 59 || Int.random(in: 0..<5, using: &random) == 0 else { continue }
            let batch = log.batch(offset: 0, start: 0)
            for series in try WrittenSeries.read(RemoteWrite.message(batch, .device)) {
                guard let name = series.labels.first(where: { $0[0] == "interface" })?[1] else { continue }
                written[name, default: []] += series.samples
            }
            log.remove(batch)
        }
        for (name, points) in expected {
            #expect(
                written[name]
                    == points.map { point in
                        [
                            point.number.map { Double($0).bitPattern } ?? 0x7ff0_0000_0000_0002,
                            UInt64(point.time),
                        ]
                    }, "\(name)")
        }
    }
}
