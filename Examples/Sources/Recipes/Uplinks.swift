// SPDX-License-Identifier: Apache-2.0
// What is behind each uplink.

import FoundationEssentials
import SessionManager

/// Tells which line is dead.
func watchUplinks(_ url: URL) async throws {
    ReachabilityManager.shared.startMonitoring()
    var configuration = InternetProbeConfiguration(
        url, expectation: InternetExpectation(statusCodes: [204...204]))
    configuration.timeout = .seconds(5)
    let probe = try InternetProbe(configuration)
    probe.start()
    for await uplinks in probe.uplinkChanges {
        for uplink in uplinks { print(uplink.interface, uplink.state, uplink.reason) }
    }
    // eth0 limited no answer in 5 s
    // wwan0 full 204 from https://probe.example.com/
}
