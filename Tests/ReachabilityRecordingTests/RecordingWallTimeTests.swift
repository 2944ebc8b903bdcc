// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import Testing

@Suite("Wall time as RFC 3339")
struct RecordingWallTimeTests {
    @Test(
        "known moments",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_767_323_045_678_901_234, "2026-01-02T03:04:05.678Z"),
            (951_782_399_999_999_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
            (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (-2_208_988_800_000_000_000, "1900-01-01T00:00:00.000Z"),
            (2_147_483_648_000_000_000, "2038-01-19T03:14:08.000Z"),
        ] as [(Int64, String)])
    func known(nanoseconds: Int64, text: String) {
        #expect(WallTime(nanoseconds: nanoseconds).text == text)
    }

    @Test("exact text is read back", arguments: 0..<500)
    func roundTrip(seed: Int) {
        var generator = RecordingGenerator(seed: UInt64(seed))
        let time = WallTime(nanoseconds: Int64(bitPattern: generator.next()) % 9_000_000_000_000_000_000)
        #expect(WallTime(time.exactText) == time)
    }

    @Test("the edges of the type have a text", arguments: [Int64.min, .max])
    func edges(nanoseconds: Int64) {
        #expect(WallTime(nanoseconds: nanoseconds).text.utf8.count == 24)
    }

    @Test(
        "what is no time is refused",
        arguments: [
            "", "2026-01-02", "2026-01-02T03:04:05", "2026-13-02T03:04:05Z", "2026-01-32T03:04:05Z",
            "2026-01-02T24:04:05Z", "2026-01-02T03:60:05Z", "2026-01-02T03:04:60Z", "2026-01-02 03:04:05Z",
            "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05.1234567890Z", "2026-01-02T03:04:05+00Z",
            "0001-01-01T00:00:00Z", "2026-01-02T03:04:05.-12Z",
        ])
    func refused(text: String) {
        #expect(WallTime(text) == nil)
    }

    @Test("fewer digits and none are read")
    func digits() {
        #expect(WallTime("1970-01-01T00:00:01Z")?.nanoseconds == 1_000_000_000)
        #expect(WallTime("1970-01-01T00:00:00.5Z")?.nanoseconds == 500_000_000)
    }
}
