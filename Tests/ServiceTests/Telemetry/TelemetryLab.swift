// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import Service
import ServiceCore
import Synchronization
import TestSupport

/// The component that samples, in a time that the test moves, with a store that the test answers for.
final class TelemetryLab: Sendable {
    let time = ManualTime()
    let bench: ServiceBench<TelemetryReporter>
    /// What was handed over to be stored.
    let batches = EventLog<TelemetryBatch>()
    /// The same, with the settings it was handed over with.
    let settings = EventLog<ServiceConfiguration.Telemetry>()
    /// The calls that end the storing, where the test makes them itself.
    let pending = EventLog<LoopBound<LoopCallback<String?>>>()
    private let start: Int64
    private let controls = Control()

    private final class Control: Sendable {
        /// Why nothing can be stored; nil if it can.
        let problem = Mutex<String?>(nil)
        let isPending = Mutex(false)
        /// What the wall clock shows at the start; nanoseconds.
        let wall = Mutex(WallTime(nanoseconds: 1_767_312_000_000_000_000))
        let samples = Mutex<UInt64>(0)
    }

    init(
        share: Double = 1, isClockSet: Bool = true,
        _ change: (inout ServiceConfiguration.Telemetry) -> Void = { $0.otlp = "http://127.0.0.1:1" }
    ) async throws {
        let loop = try time.makeReactor(name: "telemetry-test")
        var settings = ServiceConfiguration.Telemetry()
        change(&settings)
        start = time.now
        let (controls, batches, given, pending) = (controls, batches, self.settings, pending)
        if !isClockSet { controls.wall.withLock { $0 = WallTime(nanoseconds: 0) } }
        let start = start
        bench = try await ServiceBench(
            reactor: loop,
            wallClock: { controls.wall.withLock { $0 + .nanoseconds(Reactor.now - start) } },
            bootClock: { Reactor.now }
        ) { [settings] _, _, _ in
            // What ends the storing has the component.
            let part = TelemetryReporter(settings, version: "1.2.3") {
                [weak pending] batch, _, settings, done in
                given.append(settings)
                batches.append(batch)
                if controls.isPending.withLock({ $0 }) {
                    pending?.append(LoopBound(LoopCallback(done), to: loop))
                } else {
                    done(controls.problem.withLock { $0 })
                }
            }
            part.share = { share }
            part.metrics = {
                var families = MetricFamilies()
                let number = controls.samples.withLock { number in
                    number += 1
                    return number
                }
                families.write("reach_status", .gauge, "", .whole(number))
                families.write("reach_wakeups_total", .counter, "", .whole(number))
                return families.all
            }
            return part
        }
    }

    /// Seconds after the start, of a time of the wall clock in nanoseconds.
    func seconds(_ times: [Int64], since wall: Int64 = 1_767_312_000_000_000_000) -> [Double] {
        times.map { Double($0 - wall) / 1e9 }
    }

    func fail(_ problem: String?) { controls.problem.withLock { $0 = problem } }
    func hold(_ isPending: Bool) { controls.isPending.withLock { $0 = isPending } }
    /// Sets the wall clock; it shows this as of the start.
    func setClock(_ wall: Int64 = 1_767_312_000_000_000_000) {
        controls.wall.withLock { $0 = WallTime(nanoseconds: wall) }
    }

    /// Moves the time; returns the next deadline in seconds after the start.
    @discardableResult
    func advance(_ seconds: Int64) async -> Double? {
        time.move(to: time.now + seconds * 1_000_000_000)
        return await ManualTime.settle(bench.loop).map { Double($0 - start) / 1e9 }
    }

    func reload(_ change: @escaping @Sendable (inout ServiceConfiguration.Telemetry) -> Void) async throws {
        _ = try await bench.ask { part in
            var configuration = ServiceConfiguration()
            change(&configuration.telemetry)
            part.reload(configuration)
        }
    }
}
