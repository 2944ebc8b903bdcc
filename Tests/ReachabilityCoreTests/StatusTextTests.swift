// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import Testing

/// What people read of a status.
@Suite struct StatusTextTests {
    @Test("the sentences are AFNetworking's, and keys for a table of translations, which need not have all")
    func sentences() {
        let all: [ReachabilityStatus] = [.unknown, .unreachable, .wifi, .wired]
        let sentences = ["Unknown", "Not Reachable", "Reachable via WiFi", "Reachable via Wired"]
        #expect(all.map(\.localizationKey) == sentences)
        #expect(all.map { $0.localizedString() } == sentences)
        let table = ["Not Reachable": "Nicht erreichbar"]
        #expect(ReachabilityStatus.unreachable.localizedString { table[$0] } == "Nicht erreichbar")
        #expect(ReachabilityStatus.wifi.localizedString { table[$0] } == "Reachable via WiFi")
    }
}
