// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Outbox

/// Windows by the rules of real time zones: the zone belongs to a process, so another one is asked.
@Suite struct TimeZoneTests {
    private func openings(_ window: String, from instant: Int, _ count: Int, zone: String) async throws
        -> [String]
    {
        let origin = try await Origin.shared
        let result = try await origin.run(
            [
                "/usr/bin/env", "TZ=\(zone)", BuiltProgram.path("outbox-drill"), "window", window,
                "\(instant)", "\(count)",
            ])
        #expect(result.status == .exited(0), "\(result.errors)")
        return result.text.split(separator: "\n").map(String.init)
    }

    @Test(
        "OBX-008 Both changes of Europe's summer time, and a zone with half hours, by the C library's rules")
    func rules() async throws {
        let berlin = "CET-1CEST,M3.5.0,M10.5.0/3"
        // 2026-03-29 01:00 UTC: from 02:00 to 03:00.
        #expect(
            try await openings("02:30-04:00", from: 1_774_742_400, 2, zone: berlin)
                == ["1774746000 1774749600", "1774830600 1774836000"])
        // 2026-10-25 01:00 UTC: from 03:00 to 02:00.
        #expect(
            try await openings("02:15-02:45", from: 1_792_886_400, 3, zone: berlin)
                == ["1792887300 1792889100", "1792890900 1792892700", "1792977300 1792979100"])
        #expect(
            try await openings("22:00-06:00", from: 1_774_728_000, 1, zone: berlin) == [
                "1774731600 1774756800"
            ])
        #expect(
            try await openings("06:00-07:00", from: 1_772_409_600, 1, zone: "<+0545>-5:45")
                == ["1772410500 1772414100"])
    }
}
