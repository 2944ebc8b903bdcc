// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import ReachabilityRecording
import Synchronization
import TestSupport
import Testing

@testable import reach

@Suite("What was recorded prints the same lines again")
struct ReplayTests {
    /// A monitor on a kernel in memory, with its lines and its recording.
    private final class Bench: Sendable {
        let kernel: FakeKernel
        let lines = EventLog<String>()
        private let recording = Mutex(TextLine())

        init(_ network: FakeNetwork) throws {
            kernel = FakeKernel(network, reactor: try Reactor(name: "replay-test"))
        }

        var text: String { recording.withLock { $0.text } }

        func manager(host: String? = nil, format: ReportLines.Format) -> (
            ReachabilityManager, ReachabilityObservation
        ) {
            var configuration = ReachabilityConfiguration()
            configuration.reportsLinks = true
            configuration.timing.lossGrace = .milliseconds(20)
            let header = RecordingHeader(
                start: Clock.monotonic, wall: Clock.wall, host: host, configuration: configuration)
            recording.withLock { RecordingWriter.write(header, to: &$0) }
            let writer = Mutex(RecordingWriter(header))
            var environment = kernel.environment
            environment.recorder = { item in
                self.recording.withLock { text in writer.withLock { $0.write(item, to: &text) } }
            }
            let printed = Mutex(
                ReportLines(
                    format: format, host: host, lossGrace: configuration.timing.lossGrace, statusOnly: false))
            let manager = ReachabilityManager(
                host.map(MonitorTarget.init) ?? .general, configuration, .custom { $0() }, environment)
            let observation = manager.observeReachability { update in
                self.lines.append(
                    printed.withLock {
                        $0.write(update) { Clock.wall }
                        return $0.line.text
                    })
            }
            return (manager, observation)
        }
    }

    private func replayed(_ text: String, _ format: ReportLines.Format) throws -> [String] {
        var session = ReplaySession(format: format, statusOnly: false)
        var lines: [String] = []
        try session.read(Array(text.utf8)) {
            lines.append(String(decoding: $0, as: UTF8.self))
            return true
        }
        try session.finish {
            lines.append(String(decoding: $0, as: UTF8.self))
            return true
        }
        #expect(session.incomplete == 0)
        return lines
    }

    // Two clocks are read one after the other, so the last digits of times differ.
    private func withoutTimes(_ lines: [String]) -> [String] {
        lines.map {
            $0.replacing(/"since":"[^"]*"/, with: "since").replacing(/\d\d:\d\d:\d\d\.\d\d\d/, with: "time")
        }
    }

    @Test("a cable, Wi-Fi beside it, and back", arguments: [ReportLines.Format.json, .text(Style())])
    func general(format: ReportLines.Format) async throws {
        let bench = try Bench(.wiredAndWiFi)
        let (manager, observation) = bench.manager(format: format)
        manager.startMonitoring()
        bench.kernel.change { $0.setCarrier($0.index("eth0"), false) }
        await bench.lines.wait(forCount: 3)
        bench.kernel.change { $0.removeRoutes("0.0.0.0/0", metric: 100) }
        await bench.lines.wait(forCount: 4)
        bench.kernel.change { $0.setCarrier($0.index("eth0"), true) }
        bench.kernel.change { $0.addRoute("0.0.0.0/0", via: "192.0.2.1", on: $0.index("eth0"), metric: 100) }
        let lines = await bench.lines.wait(forCount: 5)
        manager.stopMonitoring()
        observation.cancel()
        #expect(withoutTimes(try replayed(bench.text, format)) == withoutTimes(lines))
    }

    @Test("a name that is resolved late")
    func host() async throws {
        let bench = try Bench(.wired)
        let (manager, observation) = bench.manager(host: "example.com", format: .json)
        manager.startMonitoring()
        bench.kernel.resolve(.failure(.noSuchName("example.com: no such name")))
        await bench.lines.wait(forCount: 1)
        bench.kernel.change { $0.setCarrier($0.index("eth0"), false) }
        bench.kernel.change { $0.setCarrier($0.index("eth0"), true) }
        await bench.kernel.requestedNames.wait(forCount: 2)
        bench.kernel.resolve(.success([ReachabilityDestination(IPAddress(v4: 0x0808_0808))]))
        let lines = await bench.lines.wait(forCount: 2)
        manager.stopMonitoring()
        observation.cancel()
        let again = withoutTimes(try replayed(bench.text, .json))
        #expect(again == withoutTimes(lines))
        #expect(again.last?.contains(#""status":"wired""#) == true)
    }

    @Test("a time is that of the recording, and follows a clock that was set")
    func walls() throws {
        let header = RecordingHeader(
            start: MonotonicInstant(nanoseconds: 5_000_000_000), wall: WallTime(nanoseconds: 1_000_000_000))
        var player = RecordingPlayer(header)
        let error = ReachabilityError(.timedOut, context: "no answer", advice: "")
        let first = player.play(.unanswered(error, at: header.start + .seconds(1)))
        #expect(first?.wall == WallTime(nanoseconds: 2_000_000_000))
        _ = player.play(.clockSet(WallTime(nanoseconds: 90_000_000_000), at: header.start + .seconds(2)))
        // A network without links, evaluated until no answer is missing.
        let network = FakeNetwork()
        var snapshot = Snapshot()
        while case .needs(let questions) = PathEvaluator.general.evaluate(snapshot) {
            for question in questions { snapshot.add(question, network.answer(question)) }
        }
        let second = player.play(.evaluated(snapshot, at: header.start + .seconds(3), took: .zero))
        #expect(second?.wall == WallTime(nanoseconds: 91_000_000_000))
        #expect(second?.update.status == .unreachable)
        #expect(player.incomplete == 0)
    }

    @Test("an evaluation without its answers is left out and counted")
    func incomplete() {
        var player = RecordingPlayer(
            RecordingHeader(start: MonotonicInstant(nanoseconds: 0), wall: WallTime(nanoseconds: 0)))
        #expect(player.play(.evaluated(Snapshot(), at: MonotonicInstant(nanoseconds: 1), took: .zero)) == nil)
        #expect(player.incomplete == 1)
    }
}
