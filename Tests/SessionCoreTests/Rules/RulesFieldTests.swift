// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing

struct RulesFieldTests {
    private let now = HTTPDate(seconds: 1_767_225_600)  // 2026-01-01

    @Test(
        "the three forms of a date, and liberties that servers take",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("sun, 6 nov 1994 08:49:37 UTC", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Fri, 01-Jan-2038 00:00:00 GMT", 2_145_916_800),
            ("Friday, 31-Dec-75 00:00:00 GMT", 3_344_976_000),
            ("Friday, 31-Dec-76 00:00:00 GMT", 220_838_400),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ])
    func dates(_ text: String, _ seconds: Int64) {
        #expect(HTTPDate(text, now: now)?.seconds == seconds)
    }

    @Test(
        "what is no date",
        arguments: [
            "", "0", "-1", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 31 Feb 2024 00:00:00 GMT",
            "Thu, 29 Feb 2023 00:00:00 GMT", "Mon, 29 Feb 2100 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun, 06 Nov 99994 08:49:37 GMT", "Sunday, 06-Nov-994 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT", "Sunday, 06-Nov-94-1 08:49:37 GMT",
        ])
    func noDates(_ text: String) { #expect(HTTPDate(text, now: now) == nil) }

    @Test("a date is written as IMF-fixdate and read back")
    func dateRoundTrip() {
        #expect(HTTPDate(seconds: 784_111_777).text == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate(seconds: -1).text == "Wed, 31 Dec 1969 23:59:59 GMT")
        #expect(HTTPDate(seconds: .max).text == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(HTTPDate(seconds: .min).text == "Mon, 01 Jan 0001 00:00:00 GMT")
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let date = HTTPDate(
                seconds: Int64.random(in: -62_135_596_800...253_402_300_799, using: &generator))
            #expect(HTTPDate(date.text, now: now) == date)
        }
        #expect(HTTPDate(Date(timeIntervalSince1970: .infinity)) > now)
    }

    @Test(
        "entity tags and how they are compared (the table of RFC 9110 §8.8.3.2)",
        arguments: [
            ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false),
            ("W/\"1\"", "\"1\"", false, true),
            ("\"1\"", "\"1\"", true, true),
        ])
    func entityTags(_ left: String, _ right: String, _ strong: Bool, _ weak: Bool) throws {
        let left = try #require(EntityTag(left))
        let right = try #require(EntityTag(" \(right) "))
        #expect(left.matchesStrongly(right) == strong)
        #expect(left.matchesWeakly(right) == weak)
        #expect(EntityTag(left.text) == left)
    }

    @Test(
        "what is no entity tag",
        arguments: ["", "\"", "1", "w/\"1\"", "\"a\"b\"", "\"a b\"", "W/", "\"\u{1}\""])
    func noEntityTags(_ text: String) { #expect(EntityTag(text) == nil) }

    @Test(
        "ranges of partial content",
        arguments: [
            ("bytes 0-9/100", ContentRange(bytes: 0...9, completeLength: 100)),
            ("Bytes 5-5/*", ContentRange(bytes: 5...5, completeLength: nil)),
            ("bytes */100", ContentRange(bytes: nil, completeLength: 100)),
            ("  bytes   1-2/3 ", ContentRange(bytes: 1...2, completeLength: 3)),
        ])
    func ranges(_ text: String, _ range: ContentRange) { #expect(ContentRange(text) == range) }

    @Test(
        "what is no range",
        arguments: [
            "", "bytes", "bytes */*", "bytes 9-0/100", "bytes 0-100/100", "bytes -1-5/10", "bytes 0-9",
            "items 0-9/100",
            "bytes 0-9/-100", "bytes 0-9223372036854775807/*", "bytes 0-99999999999999999999/*",
            "bytes a-b/c",
            "bytes 0-1-2/3", "bytes 0-1/2/3", "bytes +0-1/2", "bytes=0-1/2",
        ])
    func noRanges(_ text: String) { #expect(ContentRange(text) == nil) }
}
