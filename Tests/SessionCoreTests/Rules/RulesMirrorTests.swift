// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import Testing

/// Which of several URLs of one content is asked next, and what becomes of what has come.
struct RulesMirrorTests {
    @Test("API-530 a URL that cannot give the content makes way for the next; what has come is kept")
    func order() {
        var rules = MirrorRules(count: 3)
        #expect(rules.failed(.unavailable, after: .none) == .ask(1, keepsPart: true))
        #expect(rules.failed(.unavailable, after: .fromStart) == .ask(2, keepsPart: true))
        #expect(rules.failed(.unavailable, after: .none) == .exhausted(keepsPart: true))
        #expect(!rules.isSpent)
        // The last that gave content comes first in the next round, then the order counts again.
        rules.beginRound()
        #expect(rules.current == 1)
        #expect(rules.failed(.unavailable, after: .none) == .ask(0, keepsPart: true))
        #expect(rules.failed(.broken, after: .fromStart) == .ask(2, keepsPart: false))
        #expect(rules.failed(.broken, after: .none) == .exhausted(keepsPart: false))
        // What an earlier process has begun is continued where it was; those before are not left out.
        var later = MirrorRules(count: 2, first: 1, hasPart: true)
        #expect(later.current == 1)
        #expect(later.failed(.unavailable, after: .none) == .ask(0, keepsPart: true))
    }

    @Test(
        "API-531 a connection that breaks within the content is made anew twice before another URL is asked")
    func cuts() {
        var rules = MirrorRules(count: 2)
        #expect(rules.failed(.cut, after: .fromStart) == .ask(0, keepsPart: true))
        #expect(rules.failed(.cut, after: .appended) == .ask(0, keepsPart: true))
        #expect(rules.failed(.cut, after: .appended) == .ask(1, keepsPart: true))
        for _ in 0..<2 { #expect(rules.failed(.cut, after: .appended) == .ask(1, keepsPart: true)) }
        #expect(rules.failed(.unavailable, after: .none) == .exhausted(keepsPart: true))
        rules.beginRound()
        #expect(rules.current == 1)
        #expect(rules.failed(.cut, after: .appended) == .ask(1, keepsPart: true))
    }

    @Test("API-532 a wrong checksum strikes the URL of which all content is; of several none is known to lie")
    func checksums() {
        var alone = MirrorRules(count: 2)
        #expect(alone.failed(.wrongContent, after: .fromStart) == .ask(1, keepsPart: false))
        #expect(alone.failed(.unavailable, after: .none) == .exhausted(keepsPart: true))
        alone.beginRound()
        #expect(alone.current == 1, "the struck one comes in no later round")
        #expect(alone.failed(.wrongContent, after: .fromStart) == .exhausted(keepsPart: false))
        #expect(alone.isSpent)

        var joined = MirrorRules(count: 2)
        #expect(joined.failed(.unavailable, after: .fromStart) == .ask(1, keepsPart: true))
        #expect(joined.failed(.wrongContent, after: .appended) == .ask(1, keepsPart: false))
        joined.beginRound()
        #expect(!joined.isSpent)
        // From now on no content of two is joined, so that the next wrong sum is of one.
        #expect(joined.failed(.unavailable, after: .fromStart) == .ask(0, keepsPart: false))
        #expect(joined.failed(.wrongContent, after: .fromStart) == .exhausted(keepsPart: false))
        joined.beginRound()
        #expect(joined.current == 1)
        #expect(joined.failed(.wrongContent, after: .fromStart) == .exhausted(keepsPart: false))
        #expect(joined.isSpent)

        // A mirror that sends all anew has nothing of the one before.
        var anew = MirrorRules(count: 2)
        #expect(anew.failed(.unavailable, after: .fromStart) == .ask(1, keepsPart: true))
        #expect(anew.failed(.wrongContent, after: .fromStart) == .exhausted(keepsPart: false))
        anew.beginRound()
        #expect(anew.current == 0)

        // A part of an earlier process may be of any.
        var former = MirrorRules(count: 1, hasPart: true)
        #expect(former.failed(.wrongContent, after: .appended) == .ask(0, keepsPart: false))
        #expect(former.failed(.wrongContent, after: .fromStart) == .exhausted(keepsPart: false))
    }

    @Test("API-533 only what is a URL's own fault has another one asked")
    func faults() {
        func fault(_ code: SessionError.Code, _ status: Int? = nil, _ hasContent: Bool = false)
            -> MirrorRules.Fault?
        {
            MirrorRules.fault(code, status: status, hasContent: hasContent)
        }
        for code in [SessionError.Code.cannotFindHost, .cannotConnectToHost, .timedOut, .tooManyRedirects] {
            #expect(fault(code) == .unavailable)
        }
        for code in [
            SessionError.Code.certificateUntrusted, .secureConnectionFailed, .clientCertificateRequired,
        ] {
            #expect(fault(code) == .unavailable)
        }
        for status in [403, 404, 410, 416, 429, 500, 503] {
            #expect(fault(.badServerResponse, status) == .unavailable)
        }
        #expect(fault(.badServerResponse, 206, true) == .broken)
        #expect(fault(.cannotDecodeRawData, 200, true) == .broken)
        #expect(fault(.networkConnectionLost, 200, true) == .cut)
        #expect(fault(.networkConnectionLost, 200) == .unavailable)
        #expect(fault(.checksumMismatch, 200, true) == .wrongContent)
        for code in [
            SessionError.Code.notConnectedToInternet, .cancelled, .cannotWriteToFile, .invalidHeaderField,
            .missingLibrary, .outOfResources, .dependencyFailed, .badResumeRecord,
        ] {
            #expect(fault(code, 200, true) == nil)
        }
    }

    @Test(
        "API-534 a part is continued at another URL by its strong tag, which has to come back, or a checksum")
    func proof() throws {
        let url = try #require(URL(string: "https://b.example/f"))
        func record(_ tag: String?) throws -> ResumeRecord {
            try ResumeRecord(
                url: #require(URL(string: "https://a.example/f")), eTag: tag,
                lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", date: "Sun, 06 Nov 1994 09:49:37 GMT",
                receivedBytes: 5, totalBytes: 9, partialFile: "part")
        }
        func range(_ record: ResumeRecord, isChecked: Bool) -> [String?]? {
            guard case .resume(let request) = ResumeRules(record: record, isChecked: isChecked).plan else {
                return nil
            }
            return [request.headerFields[.range], request.headerFields[.ifRange], request.url.host()]
        }
        let strong = MirrorRules.moved(try record("\"1\""), to: url, isChecked: false)
        #expect(range(strong, isChecked: false) == ["bytes=5-", "\"1\"", "b.example"])
        for tag in ["W/\"1\"", nil] {
            let weak = MirrorRules.moved(try record(tag), to: url, isChecked: false)
            #expect(range(weak, isChecked: false) == nil, "the date is of one server")
        }
        let checked = MirrorRules.moved(try record("\"1\""), to: url, isChecked: true)
        #expect(range(checked, isChecked: true) == ["bytes=5-", nil, "b.example"])

        func judged(_ headers: [String: String], isChecked: Bool) -> Bool {
            let fields = ["content-range": "bytes 5-8/9"].merging(headers) { $1 }
            let block = fields.map { "\($0.key): \($0.value)\r\n" }.joined()
            let response = SessionResponse(
                url: url, statusCode: 206, version: .http1_1, headerBlock: Array(block.utf8))
            let rules = ResumeRules(
                record: isChecked ? checked : strong, asked: SessionRequest(url: url), isChecked: isChecked,
                isMirror: true)
            if case .append = rules.judge(response) { return true }
            return false
        }
        #expect(judged(["etag": "\"1\""], isChecked: false))
        #expect(!judged(["etag": "\"2\""], isChecked: false))
        #expect(!judged([:], isChecked: false), "a server that ignores If-Range proves nothing")
        #expect(judged(["etag": "\"2\""], isChecked: true))
        #expect(!judged(["content-range": "bytes 5-9/10"], isChecked: true))
    }
}
