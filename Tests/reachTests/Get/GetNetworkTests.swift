// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReachabilityCore
import SessionCore
import Testing

@testable import reach

struct GetNetworkTests {
    private func parse(_ words: String...) throws -> Get {
        try #require(try Reach.parseAsRoot(["get"] + words + ["http://a.test/"]) as? Get)
    }

    @Test(
        "UPL-437 get takes the networks of send, beside --via as well",
        arguments: [NetworkCondition.any, .wifiOrWired, .wiredOnly, .notExpensive, .notConstrained])
    func conditions(_ condition: NetworkCondition) throws {
        #expect(try parse("--network", condition.rawValue).connection.condition == condition)
        let both = try parse("--network", condition.rawValue, "--via", "eth0").connection
        #expect(both.condition == condition && both.via == .interface("eth0"))
        #expect(try parse().connection.condition == nil)
    }

    @Test("UPL-437 It has no probe, and says what to do instead; other words are refused with the right ones")
    func refused() {
        for (word, hint) in [("internet", "reach wait --for internet"), ("cheap", "notExpensive")] {
            do {
                _ = try parse("--network", word)
                Issue.record("\(word) was taken")
            } catch {
                #expect(Reach.message(for: error).contains(hint), "\(error)")
                #expect(Reach.exitCode(for: error) == .validationFailure)
            }
        }
    }

    @Test("UPL-438 While the network is not as it has to be, get says that it waits for another one")
    func waiting() {
        let text = WaitingText(.condition(.notExpensive), nil, isUnicode: false).text
        #expect(text.contains("not expensive"), "\(text)")
    }
}
