// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

struct RedirectTests {
    @Test("redirects are followed, and the task knows where it arrived")
    func followed() async throws {
        let lab = try await Lab()
        let task = try lab.manager.dataTask(with: lab.request("/redirect/3"))
        task.resume()
        let outcome = await task.outcome()
        #expect(outcome.error == nil)
        #expect(outcome.response?.statusCode == 200)
        #expect(outcome.metrics.count == 4)
        #expect(task.currentRequest.url.path() == "/get")
        #expect(task.originalRequest.url.path() == "/redirect/3")
    }

    @Test("a circle of redirects ends with an error")
    func circle() async throws {
        let lab = try await Lab { $0.redirects.limit = 5 }
        let end = try await lab.run(lab.request("/redirect/6"))
        #expect(end.error?.code == .tooManyRedirects)
        #expect(try await lab.run(lab.request("/redirect/5")).error == nil)
    }

    @Test("AF-145 a handler sees the redirect's response and lets it be followed")
    func proposal() async throws {
        let lab = try await Lab()
        let diary = Diary<Int?>()
        var options = TaskOptions()
        options.redirectHandler = Redirector.modify { proposed, _, response in
            diary.record(response.statusCode)
            return proposed
        }
        let end = try await lab.run(lab.request("/redirect/1"), options: options)
        #expect(end.response?.statusCode == 200)
        #expect(diary.all == [302])
    }

    @Test("AF-146 a redirect that is refused is the response; another target is taken")
    func refusal() async throws {
        let lab = try await Lab()
        var options = TaskOptions()
        options.redirectHandler = Redirector.doNotFollow
        let refused = try await lab.run(lab.request("/redirect/1"), options: options)
        #expect(refused.response?.statusCode == 302)
        #expect(refused.error?.code == .badServerResponse)
        let other = try lab.request("/get?other=1")
        options.redirectHandler = Redirector.modify { _, _, _ in other }
        let end = try await lab.run(lab.request("/redirect/1"), options: options)
        #expect(end.json?["args"]?["other"] == "1")
    }

    @Test(
        "credentials stay at home: another origin gets no Authorization, no Cookie and no sensitive field, whatever a handler makes of the sent request",
        arguments: [false, true])
    func credentials(_ goesOnWithSent: Bool) async throws {
        let lab = try await Lab()
        var options = TaskOptions()
        if goesOnWithSent {
            options.redirectHandler = Redirector.modify { proposed, request, _ in
                var next = request
                next.url = proposed.url
                return next
            }
        }
        let elsewhere = lab.origin.url("/headers", at: .http, host: "localhost")
        var request = try lab.request("/redirect-to?url=\(elsewhere)")
        try request.setValue("Basic c2VjcmV0", forHeader: "Authorization")
        try request.setValue("a=b", forHeader: "Cookie")
        try request.setValue("kept", forHeader: "X-Other")
        try request.setValue("own-secret", forHeader: "X-Device-Key")
        request.options.sensitiveFields = [try #require(HTTPField.Name("x-device-key"))]
        let (data, _) = try await lab.manager.data(for: request, options: options)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains("kept"))
        #expect(!text.contains("c2VjcmV0"))
        #expect(!text.contains("own-secret"))
        #expect(!text.contains("a=b"))
    }

    @Test("307 sends the body once more; AF-156 one that cannot be rewound ends in an error")
    func bodies() async throws {
        let lab = try await Lab()
        let target = lab.origin.url("/post")
        let path = "/redirect-to?code=307&read=1&url=\(target)"
        let end = try await lab.run(lab.request(path, .post, body: .data(Data("again".utf8))))
        #expect(end.json?["data"] == "again")
        let once = try await lab.run(lab.request(path, .post, body: .stream(OnceSource("once"))))
        #expect(once.error?.code == .requestBodyStreamExhausted)
    }

    @Test("what cannot be rewound is replaced by the delegate's new body")
    func newBody() async throws {
        let lab = try await Lab()
        lab.manager.delegate = NewBody()
        let path = "/redirect-to?code=307&read=1&url=\(lab.origin.url("/post"))"
        let end = try await lab.run(lab.request(path, .post, body: .stream(OnceSource("once"))))
        #expect(end.json?["data"] == "new")
    }
}

/// Has another body for each request that needs one.
private final class NewBody: SessionDelegate {
    func task(_ task: SessionTask, needsNewBodyFor request: SessionRequest) async -> RequestBody? {
        .data(Data("new".utf8))
    }
}

/// A body that can be read once.
struct OnceSource: BodySource {
    let text: String
    init(_ text: String) { self.text = text }
    var length: Int64? { Int64(text.utf8.count) }
    var isRewindable: Bool { false }
    func makeReader() -> any BodyReader { OnceReader(Array(text.utf8)) }
}

final class OnceReader: BodyReader {
    private var rest: ArraySlice<UInt8>
    init(_ bytes: [UInt8]) { rest = bytes[...] }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        let next = rest.prefix(buffer.count)
        guard !next.isEmpty else { return .end }
        buffer.copyBytes(from: next)
        rest = rest.dropFirst(next.count)
        return .bytes(next.count)
    }
}
