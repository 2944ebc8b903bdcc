// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Bodies that wait until the server wants them (`Expect: 100-continue`).
@Suite(.timeLimit(.minutes(10))) struct ExpectationTests {
    /// A body that can be read once, and counts how often it is read.
    private final class OneReading: BodySource, BodyReader {
        let length: Int64? = 5
        let isRewindable = false
        let readers = Diary<Int>()
        func makeReader() throws(SessionError) -> any BodyReader {
            readers.record(1)
            return self
        }
        func read(into buffer: UnsafeMutableRawBufferPointer) throws(SessionError) -> BodyRead {
            let isFirst = pieces.all.isEmpty
            pieces.record(1)
            guard isFirst else { return .end }
            buffer.copyBytes(from: Array("hello".utf8))
            return .bytes(5)
        }
        let pieces = Diary<Int>()
        func whenReadable(_ callback: @escaping @Sendable () -> Void) {}
    }

    private func request(
        _ lab: Lab, _ path: String, body: RequestBody = .data(Data("hello".utf8)),
        waiting: Duration? = .seconds(600)
    ) throws -> SessionRequest {
        var request = try lab.request(path, .post, at: .direct, body: body)
        request.options.continueTimeout = waiting
        return request
    }

    @Test("API-520 A body waits until the server wants it, and does not where that was not asked for")
    func waiting() async throws {
        let lab = try await Lab()
        // The server sends 100 (Continue) with the first reading of the body.
        for waiting in [nil, Duration.seconds(600)] {
            let end = try await lab.run(request(lab, "/anything", waiting: waiting))
            #expect(end.json?["data"]?.string == "hello", "\(String(describing: end.error))")
            #expect(end.json?["headers"]?["Expect"]?.string == (waiting == nil ? nil : "100-continue"))
        }
        // One that never says so gets it after the time.
        let end = try await lab.run(request(lab, "/fault/no-continue", waiting: .milliseconds(1)))
        #expect(end.json?["data"]?.string == "hello", "\(String(describing: end.error))")
    }

    @Test("API-521 A refusal by the head leaves the body unread, so that it answers the next request")
    func refusal() async throws {
        let lab = try await Lab()
        let body = OneReading()
        let end = try await lab.run(request(lab, "/fault/early?status=413", body: .stream(body)))
        #expect(end.response?.statusCode == 413 && body.pieces.all.isEmpty)
        #expect(end.error?.response?.statusCode == 413)
        var options = TaskOptions()
        options.credential = .password(user: "u", password: "p")
        let again = OneReading()
        let admitted = try await lab.run(
            request(lab, "/basic-auth/u/p", body: .stream(again)), options: options)
        #expect(admitted.response?.statusCode == 200, "\(String(describing: admitted.error))")
        #expect(again.readers.all.count == 1)
    }

    @Test(
        "API-522 A server that refuses to be asked gets the request again without, however that was asked for"
    )
    func unknownExpectation() async throws {
        let lab = try await Lab()
        for isField in [false, true] {
            let key = "expectation-\(isField)"
            var request = try request(
                lab, "/fault/expectation-failed?key=\(key)", waiting: isField ? nil : .seconds(600))
            if isField { request.headerFields[.expect] = "100-continue" }
            let end = try await lab.run(request)
            // It refuses everything: the second answer is the last.
            #expect(end.response?.statusCode == 417)
            #expect(try await lab.origin.statistics(key).count == 2)
        }
        // Without an expectation a 417 is an answer.
        let end = try await lab.run(request(lab, "/fault/expectation-failed?key=plain", waiting: nil))
        #expect(end.response?.statusCode == 417)
        #expect(try await lab.origin.statistics("plain").count == 1)
    }

    @Test("API-523 The second request arrives whole, over the one body where that cannot be read twice")
    func again() async throws {
        let lab = try await Lab()
        for (number, body) in [RequestBody.data(Data("hello".utf8)), .stream(OneReading())].enumerated() {
            let end = try await lab.run(
                request(lab, "/fault/no-expectation?key=again-\(number)", body: body))
            #expect(end.json?["data"]?.string == "hello", "\(String(describing: end.error))")
            #expect(end.json?["headers"]?["Expect"] == nil)
            #expect(try await lab.origin.statistics("again-\(number)").count == 2)
        }
    }

    @Test("API-524 A serializer puts the wait into its requests")
    func serializer() throws {
        var changes = RequestOptionChanges()
        changes.continueTimeout = .seconds(2)
        var options = RequestOptions()
        changes.apply(to: &options)
        #expect(options.continueTimeout == .seconds(2))
    }
}
