// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import Testing

struct RulesResumeTests {
    private let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    private let later = "Sun, 06 Nov 1994 08:49:38 GMT"

    private func record(
        eTag: String? = "\"v1\"", lastModified: String? = nil, date: String? = nil, received: Int64 = 50,
        total: Int64? = 100
    ) throws -> ResumeRecord {
        try ResumeRecord(
            url: SessionRequest("https://a.example/file").url, eTag: eTag, lastModified: lastModified,
            date: date,
            receivedBytes: received, totalBytes: total, partialFile: "/tmp/file.part")
    }

    private func name(_ plan: ResumePlan) -> String {
        switch plan {
        case .complete: "complete"
        case .restart(let request):
            request.headerFields[.range] == nil && request.headerFields[.ifRange] == nil
                ? "restart" : "fields left"
        case .resume(let request):
            "\(request.headerFields[.range] ?? "-") \(request.headerFields[.ifRange] ?? "-")"
        }
    }

    @Test(
        "AF-166 a range is asked for only under a strong validator",
        arguments: [
            ("\"v1\"", nil, nil, "bytes=50- \"v1\""), ("W/\"v1\"", nil, nil, "restart"),
            ("v1", nil, nil, "restart"),
            (nil, nil, nil, "restart"), (nil, "M", "L", "bytes=50- M"), (nil, "M", nil, "restart"),
            (nil, "M", "M", "restart"), (nil, "M", "nonsense", "restart"), (nil, "nonsense", "L", "restart"),
            ("W/\"v1\"", "M", "L", "restart"), ("\"v1\"", "M", "L", "bytes=50- \"v1\""),
        ] as [(String?, String?, String?, String)])
    func plans(_ eTag: String?, _ lastModified: String?, _ date: String?, _ expected: String) throws {
        func time(_ text: String?) -> String? { text == "M" ? modified : text == "L" ? later : text }
        let record = try record(eTag: eTag, lastModified: time(lastModified), date: time(date))
        let expected = expected.replacing("M", with: modified)
        var base = try SessionRequest("https://a.example/elsewhere", method: .post)
        base.headerFields = [.authorization: "Bearer 1", .range: "bytes=0-1", .ifRange: "\"old\""]
        let plan = ResumeRules(record: record, base: base).plan
        #expect(name(plan) == expected)
        guard case .resume(let request) = plan else { return }
        #expect(request.url == record.url)
        #expect(request.method == .get)
        #expect(request.headerFields[.authorization] == "Bearer 1")
        #expect(request.headerFields[.acceptEncoding] == "identity")
        #expect(!request.options.decompressesContent)
    }

    @Test(
        "FLD-029 where a checksum tells, a range is asked for without a validator, and a weak tag has to be the same",
        arguments: [(nil, nil, true), ("W/\"v1\"", "W/\"v1\"", true), ("W/\"v1\"", "W/\"v2\"", false)]
            as [(String?, String?, Bool)])
    func checked(_ eTag: String?, _ theirs: String?, _ isSame: Bool) throws {
        let rules = ResumeRules(record: try record(eTag: eTag), isChecked: true)
        #expect(name(rules.plan) == "bytes=50- -")
        var fields = HTTPFields()
        fields[.contentRange] = "bytes 50-99/100"
        fields[.eTag] = theirs
        let response = SessionResponse(
            url: try SessionRequest("https://a.example/file").url, statusCode: 206, headerFields: fields)
        if case .append = rules.judge(response) { #expect(isSame) } else { #expect(!isSame) }
        #expect(name(ResumeRules(record: try record(), isChecked: true).plan) == "bytes=50- \"v1\"")
    }

    @Test("secrets stay with the origin that they are for, and a body with its method")
    func foreignBase() throws {
        var base = try SessionRequest(
            "https://elsewhere.example/file", method: .post, body: .data(Data("1".utf8)))
        base.headerFields = [
            .authorization: "Bearer 1", .cookie: "a=b", .contentType: "text/plain", .userAgent: "kept",
        ]
        guard case .resume(let request) = ResumeRules(record: try record(), base: base).plan else {
            Issue.record("no range is asked for")
            return
        }
        #expect(request.headerFields[.authorization] == nil)
        #expect(request.headerFields[.cookie] == nil)
        #expect(request.headerFields[.contentType] == nil)
        #expect(request.headerFields[.userAgent] == "kept")
        #expect(request.body == nil)
    }

    @Test(
        "nothing received starts anew, everything received is complete",
        arguments: [
            (0, 100, "restart"), (100, 100, "complete"), (0, 0, "complete"), (99, nil, "bytes=99- \"v1\""),
        ] as [(Int64, Int64?, String)])
    func edges(_ received: Int64, _ total: Int64?, _ expected: String) throws {
        #expect(name(ResumeRules(record: try record(received: received, total: total)).plan) == expected)
    }

    @Test(
        "AF-166 what each answer means for the partial file",
        arguments: [
            (206, ["content-range": "bytes 50-99/100"], "append 50 100 of 100"),
            (206, ["content-range": "bytes 50-99/100", "etag": "\"v1\""], "append 50 100 of 100"),
            (206, ["content-range": "bytes 50-69/100"], "append 50 70 of 100"),
            (206, ["content-range": "bytes 50-99/*"], "append 50 100 of 100"),
            (
                206, ["content-range": "bytes 50-99/100", "content-encoding": "identity"],
                "append 50 100 of 100"
            ),
            (206, ["content-range": "bytes 49-99/100"], "whole"),
            (206, ["content-range": "bytes 51-99/100"], "whole"),
            (206, ["content-range": "bytes 0-99/100"], "whole"),
            (206, ["content-range": "bytes 50-100/101"], "whole"),
            (206, ["content-range": "bytes 50-149/*"], "whole"),
            (206, ["content-range": "bytes */100"], "whole"),
            (206, ["content-range": "garbage"], "whole"), (206, [:], "whole"),
            (206, ["content-type": "multipart/byteranges; boundary=x"], "whole"),
            (206, ["content-range": "bytes 50-99/100", "etag": "\"v2\""], "whole"),
            (206, ["content-range": "bytes 50-99/100", "etag": "W/\"v1\""], "whole"),
            (206, ["content-range": "bytes 50-99/100", "etag": "v1"], "whole"),
            (206, ["content-range": "bytes 50-99/100", "content-encoding": "gzip"], "whole"),
            (206, ["content-range": "bytes 50-99/100", "content-length": "50"], "append 50 100 of 100"),
            (206, ["content-range": "bytes 50-99/100", "content-length": "49"], "whole"),
            (206, ["content-range": "bytes 50-69/100", "content-length": "50"], "whole"),
            (200, ["etag": "\"v2\""], "restart"), (200, [:], "restart"), (203, [:], "restart"),
            (416, ["content-range": "bytes */100"], "whole"), (416, ["content-range": "bytes */50"], "whole"),
            (416, [:], "whole"), (404, [:], "failure"), (503, [:], "failure"), (304, [:], "failure"),
            (204, [:], "failure"),
        ])
    func answers(_ status: Int, _ fields: [String: String], _ expected: String) throws {
        let rules = ResumeRules(record: try record())
        // A part has the tag of the whole.
        let fields = status == 206 ? fields.merging(["etag": "\"v1\""]) { mine, _ in mine } : fields
        #expect(name(try judge(rules, status, fields)) == expected)
    }

    @Test(
        "AF-166 416 with the length that is there: the file is complete",
        arguments: [
            (["content-range": "bytes */50"], "complete"),
            (["content-range": "bytes */50", "etag": "\"v1\""], "complete"),
            (["content-range": "bytes */51"], "whole"),
            (["content-range": "bytes */50", "etag": "\"v2\""], "whole"),
            (["content-range": "bytes 0-1/50"], "complete"), ([:], "whole"),
        ])
    func unsatisfied(_ fields: [String: String], _ expected: String) throws {
        let rules = ResumeRules(record: try record(total: nil))
        #expect(name(try judge(rules, 416, fields)) == expected)
    }

    @Test(
        "an answer that ends before the file does is gone on from; one that ends elsewhere than it said fails",
        arguments: [
            ("bytes 50-99/100", 100, "complete"), ("bytes 50-69/100", 70, "on from 70 of 100"),
            // It ended in good order, and before it said: what has come is good.
            ("bytes 50-69/100", 60, "on from 60 of 100"), ("bytes 50-99/100", 99, "on from 99 of 100"),
            ("bytes 50-69/100", 71, "failure"), ("bytes 50-69/100", 100, "failure"),
            ("bytes 50-99/100", 50, "failure"), ("bytes 50-69/100", 50, "failure"),
            // Not for this file: `judge` has said so, and nothing was appended.
            ("bytes 50-149/150", 100, "complete"),
        ])
    func end(_ range: String, _ count: Int64, _ expected: String) throws {
        #expect(try ended(ResumeRules(record: try record()), range, at: count) == expected)
    }

    @Test("where the length of the file is unknown, it is complete when nothing comes after it")
    func unknownEnd() throws {
        let rules = ResumeRules(record: try record(total: nil))
        #expect(try ended(rules, "bytes 50-99/*", at: 100) == "on from 100 of ?")
        #expect(try ended(rules, "bytes 50-99/100", at: 100) == "complete")
        #expect(try ended(rules, "bytes 50-69/100", at: 70) == "on from 70 of 100")
    }

    private func ended(_ rules: ResumeRules, _ range: String, at count: Int64) throws -> String {
        let response = SessionResponse(
            url: try SessionRequest("https://a.example/file").url, statusCode: 206,
            headerFields: [.contentRange: range, .eTag: "\"v1\""])
        return switch rules.ended(response, at: count) {
        case .complete: "complete"
        case .missing(let record):
            "on from \(record.receivedBytes) of \(record.totalBytes.map { "\($0)" } ?? "?")"
        case .failure: "failure"
        }
    }

    @Test("without a tag the date of the last change tells the file")
    func lastModified() throws {
        let rules = ResumeRules(record: try record(eTag: nil, lastModified: modified, date: later))
        let range = ["content-range": "bytes 50-99/100"]
        #expect(
            name(try judge(rules, 206, range.merging(["last-modified": modified]) { $1 }))
                == "append 50 100 of 100")
        #expect(name(try judge(rules, 206, range.merging(["last-modified": later]) { $1 })) == "whole")
    }

    @Test(
        "API-581 A part without the tag that the record has is another's; without the date, where it comes from elsewhere"
    )
    func silence() throws {
        let range = ["content-range": "bytes 50-99/100"]
        let (tagged, dated) = (
            try record(), try record(eTag: nil, lastModified: modified, date: later)
        )
        func judged(_ record: ResumeRecord, at host: String = "a.example", isChecked: Bool = false) throws
            -> String
        {
            name(try judge(ResumeRules(record: record, isChecked: isChecked), 206, range, at: host))
        }
        let joined = "append 50 100 of 100"
        #expect(try judged(tagged) == "whole")
        #expect(try judged(tagged, at: "b.example") == "whole")
        #expect(try judged(tagged, at: "b.example", isChecked: true) == joined)
        #expect(try judged(record(lastModified: modified)) == "whole")
        #expect(try judged(dated) == joined)
        #expect(try judged(dated, at: "b.example") == "whole")
        #expect(try judged(dated, at: "b.example", isChecked: true) == joined)
    }

    private func judge(
        _ rules: ResumeRules, _ status: Int, _ fields: [String: String], at host: String = "a.example"
    ) throws -> ResumeAnswer {
        var headerFields = HTTPFields()
        for (name, value) in fields { headerFields[try #require(HTTPField.Name(name))] = value }
        return rules.judge(
            SessionResponse(
                url: try SessionRequest("https://\(host)/file").url, statusCode: status,
                headerFields: headerFields))
    }

    private func name(_ answer: ResumeAnswer) -> String {
        switch answer {
        case .append(let offset, let end, let total):
            "append \(offset) \(end) of \(total.map { "\($0)" } ?? "?")"
        case .restart: "restart"
        case .requestWhole(let request): request.headerFields[.range] == nil ? "whole" : "range left"
        case .complete: "complete"
        case .failure: "failure"
        }
    }

    @Test("a record is written, read and the same")
    func roundTrip() throws {
        let record = try ResumeRecord(
            url: SessionRequest("https://a.example/ü".replacing("ü", with: "%C3%BC?a=b")).url, eTag: "\"é\"",
            lastModified: modified, date: later, receivedBytes: 1 << 40, totalBytes: nil,
            partialFile: "/tmp/ä b.part")
        let text = try record.encoded()
        #expect(try ResumeRecord(encoded: text) == record)
        #expect(try record.with(receivedBytes: 7).receivedBytes == 7)
        #expect(String(decoding: text, as: UTF8.self).contains("\"version\":1"))
    }

    @Test(
        "AF-168 garbage instead of a record is refused",
        arguments: [
            "", "null", "[]", "{}", "{", "\u{0}\u{1}", "bplist00", "<?xml?>",
            goodRecord.replacing("\"version\":1", with: "\"version\":2"),
            goodRecord.replacing("https:", with: "file:"),
            goodRecord.replacing("https://a.example/f", with: "no url"),
            goodRecord.replacing(":50,", with: ":-1,"),
            goodRecord.replacing(":50,", with: ":101,"), goodRecord.replacing(":50,", with: ":1e300,"),
            goodRecord.replacing(":50,", with: ":\"50\","), goodRecord.replacing("/tmp/p", with: ""),
            goodRecord.replacing("/tmp/p", with: "a\\u0000b"),
            goodRecord.replacing("v1", with: "v1\\r\\nEvil: 1"),
            goodRecord.replacing("GET", with: "G ET"), goodRecord + "}",
            String(repeating: " ", count: 70_000) + goodRecord,
        ])
    func garbage(_ text: String) throws {
        #expect { try ResumeRecord(encoded: Data(text.utf8)) } throws: {
            ($0 as? SessionError)?.code == .badResumeRecord
        }
        #expect(try ResumeRecord(encoded: Data(goodRecord.utf8)).receivedBytes == 50)
    }

    @Test("AF-168 no record counts more bytes than a sum of them can hold")
    func counts() throws {
        #expect(throws: SessionError.self) { try record(received: .max, total: nil) }
        #expect(throws: SessionError.self) { try record(received: 1 << 62 + 1, total: nil) }
        let most = try record(received: 1 << 62, total: nil)
        #expect(name(ResumeRules(record: most).plan) == "bytes=\(Int64(1) << 62)- \"v1\"")
    }

    @Test("random bytes and broken records never crash")
    func noise() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            var bytes = Array(goodRecord.utf8)
            for _ in 0...Int.random(in: 0...3) {
                bytes[Int.random(in: 0..<bytes.count)] = .random(in: 0...255, using: &generator)
            }
            _ = try? ResumeRecord(encoded: Data(bytes))
        }
    }

    @Test(
        "a part where the whole was asked for: an error, unless it is the whole",
        arguments: [
            (206, nil, "bytes 0-9/20", true), (206, nil, "bytes 10-19/20", true), (206, nil, nil, true),
            (206, nil, "bytes 0-19/*", true), (206, nil, "bananas", true), (206, nil, "bytes 0-19/20", false),
            (206, "bytes=0-9", "bytes 0-9/20", false), (200, nil, "bytes 0-9/20", false),
        ] as [(Int, String?, String?, Bool)])
    func unaskedPart(_ status: Int, _ asked: String?, _ reported: String?, _ isWrong: Bool) throws {
        var request = try SessionRequest("https://a.example/file")
        request.headerFields[.range] = asked
        var fields = HTTPFields()
        fields[.contentRange] = reported
        let response = SessionResponse(url: request.url, statusCode: status, headerFields: fields)
        #expect((ResumeRules.unaskedPart(request, response) != nil) == isWrong)
    }

    @Test("which downloads are worth a record")
    func canRecord() throws {
        let request = try SessionRequest("https://a.example/file")
        func answer(_ fields: HTTPFields, status: Int = 200) -> Bool {
            ResumeRules.canRecord(
                request, response: SessionResponse(url: request.url, statusCode: status, headerFields: fields)
            )
        }
        #expect(answer([.eTag: "\"1\""]))
        #expect(answer([.lastModified: modified]))
        #expect(!answer([:]))
        #expect(!answer([.eTag: "\"1\"", .contentEncoding: "gzip"]))
        #expect(!answer([.eTag: "\"1\"", .acceptRanges: "none"]))
        #expect(!answer([.eTag: "\"1\""], status: 404))
    }
}

private let goodRecord = """
    {"version":1,"url":"https://a.example/f","method":"GET","eTag":"\\"v1\\"","receivedBytes":50,"totalBytes":100,"partialFile":"/tmp/p"}
    """
