// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import TestSupport
import Testing

@Suite("The end of a sleep")
struct ResumeTests {
    private let second: Int64 = 1_000_000_000

    @Test("RS-120 a sleep beyond the threshold is told once, with its length")
    func sleep() {
        var detector = SuspendDetector(threshold: .seconds(2), boottime: 1000, monotonic: 1000)
        #expect(
            detector.observed(boottime: 40 * second + 1000, monotonic: 10 * second + 1000) == .seconds(30))
        #expect(detector.observed(boottime: 41 * second + 1000, monotonic: 11 * second + 1000) == nil)
        #expect(
            detector.observed(boottime: 51 * second + 1000, monotonic: 11 * second + 1000) == .seconds(10))
    }

    @Test("short naps add up until they count")
    func naps() {
        var detector = SuspendDetector(threshold: .seconds(2), boottime: 0, monotonic: 0)
        #expect(detector.observed(boottime: second, monotonic: 0) == nil)
        #expect(detector.observed(boottime: 2 * second, monotonic: 0) == nil)
        #expect(detector.observed(boottime: 3 * second, monotonic: 0) == .seconds(3))
    }

    @Test("RS-122 a wall clock that is set changes neither clock, so nothing is told")
    func wallClock() {
        var detector = SuspendDetector(threshold: .seconds(2), boottime: 9 * second, monotonic: 4 * second)
        #expect(detector.observed(boottime: 9 * second + 5, monotonic: 4 * second + 5) == nil)
        #expect(detector.observed(boottime: 4 * second, monotonic: 4 * second) == nil)
    }

    @Test("the detector starts, is quiet, and stops twice")
    func detector() async throws {
        let reactor = try Reactor(name: "resume test")
        let ended = EventLog<Bool>()
        let reported = EventLog<NetworkEvent>()
        try await reactor.result {
            let detector = ResumeDetector(reactor: reactor, threshold: .seconds(2))
            try detector.start { reported.append($0) }
            try detector.start { reported.append($0) }
            // The loop runs for some time and then ends on its own thread.
            _ = reactor.schedule(at: Reactor.now + 50_000_000) {
                detector.stop()
                detector.stop()
                ended.append(true)
            }
        }
        #expect(await ended.wait(forCount: 1) == [true])
        #expect(reported.elements == [])
        reactor.stop()
    }
}
