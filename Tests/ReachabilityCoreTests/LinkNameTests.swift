// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import Testing

@Suite("Names of links in questions")
struct LinkNameTests {
    @Test(
        "what fits comes back as it was",
        arguments: ["", "lo", "enp0s31f6", "fifteen-bytes-x", "wlan-ä", "日本語日本"])
    func fitting(text: String) {
        #expect(LinkName(text).text == text)
        #expect(LinkName(exactly: text)?.text == text)
    }

    @Test("what is too long is cut between two characters, and is no exact name")
    func long() {
        #expect(LinkName("sixteen-bytes-xx").text == "sixteen-bytes-x")
        #expect(LinkName("fourteen-bytesä").text == "fourteen-bytes")
        #expect(LinkName("日本語日本語").text == "日本語日本")
        #expect(LinkName(exactly: "sixteen-bytes-xx") == nil)
    }

    @Test("a NUL ends a name, as for the kernel, and is in no exact one")
    func terminator() {
        #expect(LinkName("eth0\0x").text == "eth0")
        #expect(LinkName(exactly: "eth0\0x") == nil)
    }

    @Test("names that differ anywhere differ")
    func equality() {
        #expect(LinkName("eth0") != LinkName("eth1"))
        #expect(LinkName("a-long-interfac") != LinkName("a-long-interfad"))
        #expect(LinkName("eth0") == LinkName("eth0"))
    }

    @Test("a zone that no interface can have is not asked for")
    func impossibleZone() throws {
        let zone = "much-longer-than-a-name"
        let destination = ReachabilityDestination(try #require(IPAddress("fe80::1")), zone: zone)
        let evaluator = PathEvaluator(target: .host([destination]), configuration: .init())
        var snapshot = Snapshot()
        snapshot.add(.rules, .rules(PolicyRules()))
        guard case .path(let path, _) = evaluator.evaluate(snapshot) else {
            Issue.record("questions are left")
            return
        }
        #expect(path.reason.sentence.contains(zone))
    }
}
