// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ReachabilityRecording
import TestSupport
import Testing

@Suite("Playing a recording")
struct RecordingPlayerTests {
    private static func at(_ seconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: seconds * 1_000_000_000)
    }

    private static func player(host: String? = nil) -> RecordingPlayer {
        RecordingPlayer(RecordingHeader(start: at(0), wall: WallTime(nanoseconds: 0), host: host))
    }

    /// The answers to the questions of `evaluator`.
    private static func snapshot(_ network: FakeNetwork, _ evaluator: PathEvaluator = .general) -> Snapshot {
        var snapshot = Snapshot()
        while case .needs(let questions) = evaluator.evaluate(snapshot) {
            for question in questions { snapshot.add(question, network.answer(question)) }
        }
        return snapshot
    }

    private static func evaluated(_ snapshot: Snapshot, _ seconds: Int64) -> RecordedItem {
        .evaluated(snapshot, at: at(seconds), took: .zero)
    }

    @Test("the wall clock goes on from where it was set")
    func clock() throws {
        var player = Self.player()
        let first = player.play(Self.evaluated(Self.snapshot(.wired), 1))
        #expect(first?.wall == WallTime(nanoseconds: 1_000_000_000))
        _ = player.play(.clockSet(WallTime(nanoseconds: 500_000_000_000), at: Self.at(2)))
        var other = FakeNetwork.wiredAndWiFi
        other.removeRoutes("0.0.0.0/0", metric: 100)
        let second = player.play(Self.evaluated(Self.snapshot(other), 3))
        #expect(second?.update.status == .wifi)
        #expect(second?.wall == WallTime(nanoseconds: 501_000_000_000))
    }

    @Test("what lacks an answer is counted, and nothing is said of it")
    func incomplete() {
        var player = Self.player()
        let said = player.play(Self.evaluated(Snapshot(), 1))
        #expect(said == nil)
        let count = player.incomplete
        #expect(count == 1)
    }

    /// The snapshot of an older program: without rules, without lookups of single connections, and with the
    /// used leg only.
    private static func old(_ snapshot: Snapshot) -> Snapshot {
        var old = Snapshot()
        for entry in snapshot.entries {
            switch entry.question {
            case .rules: continue
            case .route(let lookup) where lookup.port != 0: continue
            case .link(let index) where index == FakeNetwork.wiredAndWiFi.index("wlan0"): continue
            default: old.add(entry.question, entry.answer)
            }
        }
        return old
    }

    @Test(
        "FLD-007 FLD-008 a recording of a program that asked neither for rules nor for single connections is played"
    )
    func older() {
        var player = Self.player()
        let wired = player.play(Self.evaluated(Self.old(Self.snapshot(.wired)), 1))
        #expect(wired?.update.status == .wired)
        var network = FakeNetwork.wiredAndWiFi
        network.removeRoutes("0.0.0.0/0")
        network.addRoute(
            "0.0.0.0/0",
            legs: ["eth0", "wlan0"].map { RouteAnswer.Leg(interface: network.index($0)) })
        var host = Self.player(host: "203.0.113.5")
        let said = host.play(Self.evaluated(Self.old(Self.snapshot(network, .host("203.0.113.5"))), 1))
        #expect(said?.update.path.interface == "eth0")
        let missing = player.incomplete + host.incomplete
        #expect(missing == 0)
    }

    @Test("nothing is said of a name before it has an address or cannot have one")
    func name() throws {
        var player = Self.player(host: "a.example")
        let general = Self.snapshot(.wired)
        let early = player.play(Self.evaluated(general, 1))
        #expect(early == nil)
        _ = player.play(.unresolved(.noSuchName("no such name"), at: Self.at(2)))
        let refused = player.play(Self.evaluated(general, 3))
        #expect(refused?.update.path.reason.sentence == "no such name")
        let destination = try #require(ReachabilityDestination("192.0.2.9"))
        _ = player.play(.resolved([destination], at: Self.at(4)))
        let found = player.play(Self.evaluated(Self.snapshot(.wired, .host("192.0.2.9")), 5))
        #expect(found?.update.status == .wired)
    }

    @Test("more members than announced, and lines that are too long, are refused")
    func limits() {
        func problem(_ lines: String...) -> String? {
            var reader = RecordingReader()
            do throws(RecordingError) {
                let header = ["reach-recording 1", "start wall=2026-01-02T03:04:05.678Z monotonic=1000"]
                for line in header + lines { _ = try reader.read(line) }
                _ = try reader.finish()
                return nil
            } catch {
                return error.description
            }
        }
        let link = "    link index=2 name=eth0 flags=0x0 state=unknown type=1"
        let list = "  answer links => links count=1"
        #expect(problem("+0.1 evaluated", list, link) == nil)
        #expect(
            problem("+0.1 evaluated", list, link, link)
                == "line 6: 'link' has no list above that it belongs to")
        let long = String(repeating: "x", count: RecordingReader.lineLimit)
        #expect(problem("+0.1 " + long) == "line 3: the line is too long")
    }
}
