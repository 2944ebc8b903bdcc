// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// Changes of a path that invalidate earlier connections, and changes that lead to an update.
struct PathHistoryTests {
    private typealias Change = @Sendable (inout ReachabilityPath) -> Void

    private static let identity: [String: Change] = [
        "interface": { $0.interfaceIndex += 1 }, "source": { $0.source = IPAddress("192.0.2.3") },
        "gateway": { $0.gateway = nil }, "underlay": { $0.underlayIndex = 9 },
        "access point": { $0.accessPoint = [2, 0, 0, 0, 0, 9] }, "carrier": { $0.carrierDownCount += 1 },
    ]

    @Test(arguments: Self.identity.keys.sorted()) func identityMakesAGeneration(field: String) throws {
        var history = PathHistory()
        var path = Marbles.path("e")
        history.number(&path)
        #expect(path.generation == 1)
        let change = try #require(Self.identity[field])
        change(&path)
        history.number(&path)
        #expect(path.generation == 2)
        history.number(&path)
        #expect(path.generation == 2)
    }

    @Test func comingBackMakesAGenerationEvenWhenNothingElseChanged() {
        var history = PathHistory()
        var (online, offline) = (Marbles.path("e"), Marbles.path("x"))
        history.number(&online)
        history.number(&offline)
        #expect(offline.generation == 1)
        history.number(&online)
        #expect(online.generation == 2)
    }

    private static let reportedChanges: [String: Change] = [
        "network": { $0.ssid = "other" }, "expensive": { $0.isExpensive = true },
        "partial": { $0.isPartial = true },
        "alternative": { $0.alternative = "wlan0" }, "families": { $0.families = [.ipv4, .ipv6] },
        "underlay": { $0.underlay = "eth9" }, "medium": { $0.medium = .bridge },
        "name": { $0.interface = "lan" },
        "tunnel": { $0.isTunnel = true }, "online": { $0.isOnline = false },
        "generation": { $0.generation = 9 },
        "reason code": { $0.reason = ReachabilityReason(.hostRoute, sentence: $0.reason.sentence) },
    ]

    @Test(arguments: Self.reportedChanges.keys.sorted()) func differenceIsReported(field: String) throws {
        let path = Marbles.path("e")
        var other = path
        #expect(!path.differs(from: other))
        let change = try #require(Self.reportedChanges[field])
        change(&other)
        #expect(path.differs(from: other))
    }

    @Test func wordsSignalAndMetricAreNotReported() {
        let path = Marbles.path("e")
        var other = path
        other.signal = -40
        other.metric = 7
        other.reason = ReachabilityReason(.defaultRoute, sentence: "other words")
        #expect(!path.differs(from: other))
    }
}
