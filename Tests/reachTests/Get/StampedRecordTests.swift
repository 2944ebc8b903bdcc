// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionManager
import Testing

@testable import reach

/// The record `FILE.part.resume`, and the bytes of `FILE.part` that it covers.
struct StampedRecordTests {
    private func record(_ address: String = "https://a.example/f?s=1") throws -> StampedRecord {
        StampedRecord(
            try ResumeRecord(
                url: SessionRequest(address).url, eTag: "\"v1\"", receivedBytes: 40, totalBytes: 100,
                partialFile: "f.part"), boot: "first")
    }

    @Test(
        "FLD-056 a part counts as it is under the same start of the machine, else as far as it was synced",
        arguments: [
            ("first", 60, 60), ("first", 30, 30), ("second", 60, 40), ("second", 30, 30), ("", 60, 40),
        ] as [(String, Int64, Int64)])
    func trusted(_ boot: String, _ size: Int64, _ expected: Int64) throws {
        #expect(try record().trustedBytes(of: size, now: boot) == expected)
        var unknown = try record()
        unknown.boot = ""
        #expect(unknown.trustedBytes(of: size, now: boot) == min(size, 40))
    }

    @Test("it is read as it was written; what is damaged is none, and one without a start is of none")
    func text() throws {
        let record = try record()
        let text = try record.encodedAsLines()
        #expect(StampedRecord(text) == record)
        let old = try #require(StampedRecord(record.record.encoded()))
        #expect(old.boot.isEmpty && old.record == record.record)
        for damaged in [Data(), Data("\n".utf8), text.dropFirst(3), Data("{}\nfirst\n".utf8)] {
            #expect(StampedRecord(damaged) == nil)
        }
    }

    @Test(
        "FLD-029 a record is of its URL, and where a checksum tells the file, of one that differs in the query",
        arguments: [
            ("https://a.example/f?s=1", true, true), ("https://a.example/f?s=2", false, true),
            ("https://a.example/f", false, true), ("https://a.example/g?s=1", false, false),
            ("http://a.example/f?s=1", false, false), ("https://b.example/f?s=1", false, false),
        ])
    func urls(_ address: String, _ plainly: Bool, _ checked: Bool) throws {
        let url = try SessionRequest(address).url
        #expect((try record().record(for: url, isChecked: false) != nil) == plainly)
        let found = try record().record(for: url, isChecked: true)
        #expect(found?.url == (checked ? url : nil))
    }
}
