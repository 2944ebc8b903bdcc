// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import Testing

@Suite("What policy rules look at")
struct RuleMessageTests {
    /// `struct fib_rule_hdr` with these attributes.
    private func rule(_ family: UInt8, sourceLength: UInt8 = 0, _ attributes: [Int] = []) -> [UInt8] {
        var request = NetlinkRequest()
        request.begin(32, sequence: 7)
        for byte in [family, 0, sourceLength, 0] { request.append(byte) }
        request.append(UInt64(0))
        for attribute in attributes { request.attribute(attribute, UInt32(1)) }
        request.end()
        return request.bytes
    }

    // FRA_SRC is 2, FRA_PRIORITY 6, FRA_FWMARK 10, FRA_IP_PROTO 22, FRA_SPORT_RANGE 23, FRA_DPORT_RANGE 24
    // (linux/fib_rules.h).
    @Test(
        "FLD-007 FLD-011 a dump tells of both families what their rules look at",
        arguments: [
            (2, 0, [6, 10], PolicyRules(exemptions: RuleExemptions(marks: [1]))),
            (2, 32, [2], PolicyRules(ipv4: .source)),
            (10, 64, [2], PolicyRules(ipv6: .source)), (2, 0, [22], PolicyRules(ipv4: .transport)),
            (10, 0, [23], PolicyRules(ipv6: .transport)),
            (2, 8, [2, 24], PolicyRules(ipv4: [.source, .transport])),
            // RTNL_FAMILY_IPMR
            (128, 32, [2], PolicyRules()),
        ] as [(UInt8, UInt8, [Int], PolicyRules)])
    func selectors(_ family: UInt8, _ length: UInt8, _ attributes: [Int], _ expected: PolicyRules) {
        var reply = DumpReply(.rules, sequence: 7)
        for bytes in [rule(2), rule(family, sourceLength: length, attributes), rule(10, [6])] {
            reply.read(bytes.span.bytes)
        }
        #expect(reply.answer == .rules(expected))
        #expect(reply.discarded == 0)
    }

    @Test("a rule that is cut off is left out")
    func malformed() {
        var reply = DumpReply(.rules, sequence: 7)
        var request = NetlinkRequest()
        request.begin(32, sequence: 7)
        request.append(UInt32(2))
        request.end()
        reply.read(request.bytes.span.bytes)
        #expect(reply.answer == .rules(PolicyRules()))
        #expect(reply.discarded == 1)
    }
}
