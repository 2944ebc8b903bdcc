// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing

/// How values are read and written as JSON where a program says nothing.
struct JSONCodingTests {
    private struct Reading: Codable, Equatable { var at: Date }

    private func read(_ text: String) throws -> Double {
        try JSONCoding.decoder().decode(Reading.self, from: Data(#"{"at":"\#(text)"}"#.utf8)).at
            .timeIntervalSince1970
    }

    @Test(
        "API-020 dates of ISO 8601 are read with any fraction and offset",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-01-02T03:04:05Z", 1_767_323_045),
            ("2026-01-02t03:04:05.25z", 1_767_323_045.25), ("2026-01-02 03:04:05,5Z", 1_767_323_045.5),
            ("2026-01-02T04:04:05+01:00", 1_767_323_045), ("2026-01-01T21:34:05-05:30", 1_767_323_045),
            ("2026-01-02T04:04:05+0100", 1_767_323_045), ("1969-12-31T23:59:59.5Z", -0.5),
            ("2016-12-31T23:59:60Z", 1_483_228_800), ("2024-02-29T00:00:00Z", 1_709_164_800),
            ("2026-01-02T03:04:05.123456789123Z", 1_767_323_045.123456789),
        ] as [(String, Double)])
    func dates(_ text: String, _ seconds: Double) throws {
        #expect(abs(try read(text) - seconds) < 1e-6)
    }

    @Test(
        "API-021 what is no time is refused, and the text is named",
        arguments: [
            "", "2026-01-02", "2026-01-02T03:04Z", "2026-13-02T03:04:05Z", "2026-02-29T03:04:05Z",
            "2026-01-02T24:04:05Z", "2026-01-02T03:60:05Z", "2026-01-02T03:04:61Z", "2026-01-02T03:04:05",
            "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05+1:00", "2026-01-02T03:04:05Zx",
            "26-01-02T03:04:05Z",
            "2026-01-02T03:04:05+24:00", "2026-00-02T03:04:05Z", "2026-01-00T03:04:05Z",
            "+026-01-02T03:04:05Z",
        ])
    func noDates(_ text: String) {
        do {
            _ = try read(text)
            Issue.record("\(text) was read")
        } catch {
            #expect("\(error)".contains("ISO 8601"))
        }
    }

    @Test(
        "API-022 dates are written to the millisecond and come back; a date without a year in four digits is refused"
    )
    func writing() throws {
        for (seconds, text) in [(1_767_323_045.25, "2026-01-02T03:04:05.250Z"), (0, "1970-01-01T00:00:00Z")] {
            let reading = Reading(at: Date(timeIntervalSince1970: seconds))
            let data = try JSONCoding.encoder().encode(reading)
            #expect(String(decoding: data, as: UTF8.self) == #"{"at":"\#(text)"}"#)
            #expect(try JSONCoding.decoder().decode(Reading.self, from: data) == reading)
        }
        #expect(throws: EncodingError.self) {
            try JSONCoding.encoder().encode(Reading(at: .distantFuture.addingTimeInterval(1e13)))
        }
    }
}
