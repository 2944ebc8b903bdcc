// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Reachability
import ReachabilityCore
import Service
import ServiceCore
import SessionCore
import Synchronization
import TestSupport
import Testing

/// A device without a battery for its clock starts in 1970, and its clock is set when there is a network.
@Suite("A wall clock that is set while the service runs", .timeLimit(.minutes(10)))
struct SetClockTests {
    /// Two clocks, in seconds.
    private final class Clocks: Sendable {
        private let shown = Mutex<(wall: Int64, boot: Int64)>((10, 10))
        var wall: Int64 { shown.withLock { $0.wall } }
        var boot: Int64 { shown.withLock { $0.boot } }
        func set(wall: Int64, boot: Int64) { shown.withLock { $0 = (wall, boot) } }
    }

    private let clocks = Clocks()
    private static let second: Int64 = 1_000_000_000

    private func update(_ event: ReachabilityUpdate.Event) -> ReachabilityUpdate {
        ReachabilityUpdate(event: event, status: .wired, previous: nil, path: ReachabilityPath())
    }

    private func wall(_ seconds: Int64) -> WallTime { WallTime(nanoseconds: seconds * Self.second) }

    @Test("since when the status is so follows it, and not what lies between two looks at two clocks")
    func age() {
        var age = StatusAge()
        let unseen = age.correct(at: wall(50), boot: 0)
        #expect(!unseen && age.since == nil)
        age.observe(update(.status), at: wall(20), boot: 20 * Self.second)
        let slack = age.correct(
            at: WallTime(nanoseconds: 80 * Self.second + 999_999), boot: 80 * Self.second)
        #expect(!slack && age.since == wall(20))
        // 50 years ahead, and back again.
        let ahead = age.correct(at: wall(1_600_000_000), boot: 120 * Self.second)
        #expect(ahead && age.since == wall(1_599_999_900))
        let back = age.correct(at: wall(200), boot: 180 * Self.second)
        #expect(back && age.since == wall(40))
        age.observe(update(.path), at: wall(210), boot: 190 * Self.second)
        #expect(age.since == wall(40))
        age.observe(update(.initial), at: wall(220), boot: 200 * Self.second)
        #expect(age.since == nil)
        // Without a boot clock nothing is corrected.
        age.observe(update(.status), at: wall(20))
        let unknown = age.correct(at: wall(1_600_000_000), boot: 120 * Self.second)
        #expect(!unknown && age.since == wall(20))
    }

    @Test("status.json and the clients' replies follow it without a change of the network")
    func service() async throws {
        let folder = try ScratchFolder("reach-clock")
        let (reactor, files) = (try Reactor(name: "clock"), try Reactor(name: "clock-files"))
        let kernel = FakeKernel(.wired, reactor: reactor)
        let clocks = clocks
        let (context, service) = try await reactor.result {
            var configuration = ReachabilityConfiguration()
            configuration.timing.lossGrace = .zero
            configuration.timing.evaluationInterval = .zero
            let context = ServiceContext(
                reactor: reactor, manager: kernel.manager(.general, configuration, queue: .onLoop(reactor)),
                stateDirectory: folder.path, log: { _, _ in },
                wallClock: { WallTime(nanoseconds: clocks.wall * Self.second) },
                bootClock: { clocks.boot * Self.second })
            let service = Service(
                context: context, components: [StatusFile(directory: folder.path, files: files)])
            try service.start()
            return (LoopBound(context, to: reactor), LoopBound(service, to: reactor))
        }
        func since() async throws -> String? {
            // After this the thread for files has done its earlier work.
            for _ in 0..<3 {
                try await reactor.result {}
                try await files.result {}
            }
            let data = try Data(contentsOf: URL(fileURLWithPath: folder("status.json")))
            return try JSONValue(parsing: data)["since"]?.string
        }
        #expect(try await since() == nil)
        kernel.change { $0.setCarrier($0.index("eth0"), false) }
        func status() async throws -> ReachabilityStatus? {
            try await reactor.result { context.here { $0.current?.status } }
        }
        while try await status() != .unreachable {}
        #expect(try await since() == "1970-01-01T00:00:10.000Z")
        clocks.set(wall: 1_767_312_100, boot: 110)
        #expect(try await since() == "2026-01-02T00:00:00.000Z")
        let reported = try await reactor.result { context.here { $0.current?.report.since?.text } }
        #expect(reported == "2026-01-02T00:00:00.000Z")
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            service.perform { service in
                service.whenEnded { continuation.resume() }
                service.stop()
            }
        }
        #expect(folder.names == [])
    }
}
