// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

struct HTTPSessionManagerTests {
    private func manager(_ change: (inout SessionConfiguration) -> Void = { _ in }) async throws
        -> HTTPSessionManager
    {
        let origin = try await TestSupport.Origin.shared
        var configuration = SessionConfiguration()
        configuration.hostAddresses = origin.resolveEntries
        configuration.proxy = ""
        change(&configuration)
        return try HTTPSessionManager(baseURL: origin.url("/"), configuration: configuration)
    }

    private struct Echo: Decodable, Sendable, Equatable {
        var method: String
        var args: [String: String]?
        var form: [String: String]?
        var headers: [String: String]
    }

    @Test("AF-170 managers are different objects, without a base, with a form and a JSON serializer")
    func defaults() throws {
        let (one, other) = (try HTTPSessionManager(), try HTTPSessionManager())
        #expect(one !== other)
        #expect(one.baseURL == nil)
        #expect(one.requestSerializer is HTTPRequestSerializer)
        #expect(one.responseSerializer is JSONResponseSerializer)
    }

    @Test("AF-177 a manager takes no pins where its base is not https, neither at first nor later")
    func pinsWithoutTLS() throws {
        let pins = SecurityPolicy(pinningMode: .publicKey)
        for base in ["http://example.com/", nil] {
            #expect {
                _ = try HTTPSessionManager(baseURL: base, securityPolicy: pins)
            } throws: {
                ($0 as? SessionError)?.code == .invalidSecurityPolicy
            }
            let plain = try HTTPSessionManager(baseURL: base)
            #expect(throws: SessionError.self) { try plain.setSecurityPolicy(pins) }
            #expect(plain.securityPolicy.pinningMode == SecurityPolicy.default.pinningMode)
        }
        let secure = try HTTPSessionManager(baseURL: "https://example.com/")
        try secure.setSecurityPolicy(pins)
        #expect(secure.securityPolicy.pinningMode == .publicKey)
    }

    /// Marks the requests that it sees.
    private struct Mark: RequestInterceptor {
        func adapt(_ request: SessionRequest, state: RequestState) async throws -> SessionRequest {
            var request = request
            try request.setValue("seen", forHeader: "X-Mark")
            return request
        }
        func retry(_ request: SessionRequest, state: RequestState, after error: any Error) async
            -> RetryDecision
        { .doNotRetry }
    }

    @Test("every verb takes options for its task alone")
    func options() async throws {
        let api = try await manager()
        let steps = Diary<String>()
        api.eventMonitors = [
            EventMonitor(queue: .custom { $0() }) { _, step in
                if case .sent(let request) = step {
                    let isMarked = request.headerFields.contains { $0.name.canonicalName == "x-mark" }
                    steps.record("\(request.method.rawValue) \(isMarked)")
                }
            }
        ]
        var options = TaskOptions()
        options.interceptor = Mark()
        let progress = Diary<TransferProgress.Snapshot>()
        options.progressQueue = .custom { $0() }
        options.downloadProgress = { progress.record($0) }
        let _: Echo = try await api.get("get", options: options)
        #expect(progress.all.last?.fractionCompleted == 1)
        let _: Echo = try await api.post("post", options: options)
        let _: Echo = try await api.put("put", options: options)
        let _: Echo = try await api.patch("patch", options: options)
        let _: Echo = try await api.delete("delete", options: options)
        try await api.head("get", options: options)
        try await api.data(.get, "get", options: options)
        let request = try api.request(.get, "get")
        _ = try await api.urlSessionManager.object(
            for: request, using: JSONResponseSerializer(), options: options)
        let _: Echo = try await api.get("get")
        #expect(
            steps.all == [
                "GET true", "POST true", "PUT true", "PATCH true", "DELETE true", "HEAD true", "GET true",
                "GET true", "GET false",
            ])
    }

    @Test("a value in one line: GET, POST, PUT, PATCH and DELETE")
    func values() async throws {
        let api = try await manager()
        let got: Echo = try await api.get("get", parameters: ["key": "value"])
        #expect(got.method == "GET" && got.args == ["key": "value"])
        let posted: Echo = try await api.post("post", parameters: ["key": "value"])
        #expect(posted.method == "POST" && posted.form == ["key": "value"])
        let put: Echo = try await api.put("put", parameters: ["key": "value"])
        #expect(put.method == "PUT" && put.form == ["key": "value"])
        let patched: Echo = try await api.patch("patch", parameters: ["key": "value"])
        #expect(patched.method == "PATCH" && patched.form == ["key": "value"])
        let deleted: Echo = try await api.delete("delete", parameters: ["key": "value"])
        #expect(deleted.method == "DELETE" && deleted.args == ["key": "value"])
        #expect(try await api.head("get").statusCode == 200)
    }

    @Test("AF-172 AF-173 verbs with blocks put their parameters where they belong")
    func verbs() async throws {
        let api = try await manager()
        func run(
            _ start: (@escaping CompletionBlock) -> SessionTask?
        ) async -> JSONValue? {
            let box = Box<Finished>()
            let task = start { box.put(Finished(response: $0, object: $1, error: $2)) }
            #expect(task?.state != .suspended)
            return await box.value.json
        }
        let parameters = ["key": "value"]
        #expect(
            await run { api.post("post", parameters: parameters, completion: $0) }?["form"]?["key"] == "value"
        )
        #expect(
            await run { api.put("put", parameters: parameters, completion: $0) }?["form"]?["key"] == "value")
        #expect(
            await run { api.patch("patch", parameters: parameters, completion: $0) }?["form"]?["key"]
                == "value")
        #expect(
            await run { api.delete("delete", parameters: parameters, completion: $0) }?["args"]?["key"]
                == "value")
        #expect(
            await run { api.get("get", parameters: parameters, completion: $0) }?["args"]?["key"] == "value")
    }

    @Test("AF-174 header fields of a call replace the serializer's; the others are kept")
    func headers() async throws {
        let api = try await manager()
        var serializer = HTTPRequestSerializer()
        try serializer.setValue("default value", forHeader: "field")
        try serializer.setValue("bar", forHeader: "X-Bar")
        api.requestSerializer = serializer
        let (data, _) = try await api.data(.get, "raw-headers", headers: ["FIELD": "value"])
        let text = String(decoding: data, as: UTF8.self).lowercased()
        let lines = text.split(whereSeparator: \.isNewline)
        #expect(lines.filter { $0.hasPrefix("field:") } == ["field: value"])
        #expect(lines.filter { $0.hasPrefix("x-bar:") } == ["x-bar: bar"])
    }

    @Test(
        "AF-176 addresses are references against the base",
        arguments: [
            ("foo", "http://example.com/v1/foo"), ("foo?bar=baz", "http://example.com/v1/foo?bar=baz"),
            ("/foo", "http://example.com/foo"), ("foo/", "http://example.com/v1/foo/"),
            ("/foo/", "http://example.com/foo/"), ("http://example2.com/", "http://example2.com/"),
            ("", "http://example.com/v1/"), ("../x", "http://example.com/x"),
            ("?q=1", "http://example.com/v1/?q=1"), ("//other/x", "http://other/x"),
        ])
    func addresses(_ address: String, _ expected: String) throws {
        for base in ["http://example.com/v1/", "http://example.com/v1"] {
            let api = try HTTPSessionManager(baseURL: base)
            #expect(try api.url(address).absoluteString == expected)
        }
        #expect(try HTTPSessionManager(baseURL: "http://h").baseURL?.absoluteString == "http://h")
    }

    @Test("a base with a query or a fragment has its slash behind the path")
    func queriedBases() throws {
        for (base, directory) in [
            ("http://h/v1?a=b", "http://h/v1/?a=b"), ("http://h/v1?a=/", "http://h/v1/?a=/"),
            ("http://h/v1#/", "http://h/v1/#/"), ("http://h/v1/?a=b", "http://h/v1/?a=b"),
        ] {
            let api = try HTTPSessionManager(baseURL: base)
            #expect(api.baseURL?.absoluteString == directory)
            #expect(try api.url("foo").absoluteString == "http://h/v1/foo")
        }
        #expect(try HTTPSessionManager(baseURL: "http://h?a=b").baseURL?.absoluteString == "http://h?a=b")
    }

    @Test("AF-175 parameters that cannot be written: nil, the reason comes later, nothing is sent")
    func unserializable() async throws {
        let api = try await manager()
        api.requestSerializer = JSONRequestSerializer()
        let box = Box<Finished>()
        let key = "unserializable"
        let submitted = Diary<@Sendable () -> Void>()
        var options = TaskOptions()
        options.completionQueue = .custom { submitted.record($0) }
        options.completionGroup = CompletionGroup()
        let task = api.post("post?key=\(key)", parameters: ["k": Double.nan], options: options) {
            box.put(Finished(response: $0, object: $1, error: $2))
        }
        #expect(task == nil)
        #expect(box.count == 0 && submitted.all.count == 1)
        for work in submitted.all { work() }
        await options.completionGroup?.wait()
        let end = await box.value
        #expect(end.error?.code == .cannotDecodeContentData)
        #expect(end.error?.domain == .requestSerialization)
        #expect(end.response == nil && end.object == nil)
        #expect(api.tasks.isEmpty)
        #expect(try await TestSupport.Origin.shared.count(key) == 0)
        // On the manager's queue where the call names none.
        let called = Diary<String>()
        api.completionQueue = .custom { work in
            called.record("queue")
            work()
        }
        #expect(
            api.get("get", parameters: ["k": Double.infinity]) { _, _, _ in called.record("block") } == nil)
        #expect(called.all == ["queue", "block"])
    }

    @Test("AF-178 a basic header that is set beforehand needs no challenge")
    func basicHeader() async throws {
        let api = try await manager()
        var serializer = HTTPRequestSerializer()
        try serializer.setBasicAuthorization(user: "user", password: "password")
        api.requestSerializer = serializer
        let (_, response) = try await api.data(.get, "hidden-basic-auth/user/password")
        #expect(response.statusCode == 200)
    }

    @Test("AF-180 a verb's task runs, that of dataTask is suspended")
    func suspension() async throws {
        let api = try await manager()
        let task = try api.dataTask(.get, "get")
        #expect(task.state == .suspended)
        task.cancel()
        let form = try { () throws in
            var form = MultipartFormData()
            try form.append("v", name: "k")
            return form
        }()
        let verbs: [(String) -> SessionTask?] = [
            { api.get($0) { _, _, _ in } }, { api.head($0) { _, _, _ in } }, { api.post($0) { _, _, _ in } },
            { api.put($0) { _, _, _ in } }, { api.patch($0) { _, _, _ in } },
            { api.delete($0) { _, _, _ in } }, { api.post($0, multipart: form) { _, _, _ in } },
        ]
        for verb in verbs {
            let running = verb("hold/never")
            #expect(running?.state == .running)
            running?.cancel()
        }
    }

    @Test("AF-182 HEAD of a page of another type is success: there is no content")
    func head() async throws {
        let api = try await manager()
        let box = Box<Finished>()
        api.head("html") { box.put(Finished(response: $0, object: $1, error: $2)) }
        #expect(await box.value.error == nil)
    }

    @Test("AF-185 200 requests at once over at most four connections")
    func limit() async throws {
        let api = try await manager { $0.maximumConnectionsPerHost = 4 }
        let statuses = await withTaskGroup(of: Int?.self) { group in
            for number in 0..<200 {
                group.addTask {
                    try? await api.data(.get, "get?key=limit-of-four&n=\(number)").1.statusCode
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 200))
        let statistics = try await TestSupport.Origin.shared.statistics("limit-of-four")
        #expect(statistics.count == 200)
        #expect(statistics.peak <= 4)
    }
}
