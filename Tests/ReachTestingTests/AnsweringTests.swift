// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import ReachTesting
import Synchronization
import Testing

/// Requests that a test answers, and what they consist of.
@Suite struct AnsweringTests {
    private struct User: Codable, Sendable, Equatable {
        var id: Int
        var name: String
    }

    @Test("API-200 A value is sent as JSON and comes back as JSON, with status and header fields")
    func values() async throws {
        let api = try HTTPSessionManager(baseURL: "https://api.example.com/v1") { request in
            #expect(request.method == .post && request.path == "/v1/users")
            #expect(request.value(forHeader: "content-type") == "application/json")
            #expect(request.value(forHeader: "host") == "api.example.com")
            let user = try request.json(as: User.self)
            return .json(User(id: 7, name: user.name), status: 201, headers: ["X-Trace": "1"])
        }
        api.requestSerializer = JSONRequestSerializer()
        let user: User = try await api.post("users", parameters: ["id": 0, "name": "Ada"])
        #expect(user == User(id: 7, name: "Ada"))
        let request = try api.request(.post, "users", parameters: ["id": 0, "name": "Ada"])
        let response = try await api.urlSessionManager.data(for: request).1
        #expect(response.statusCode == 201 && response.mimeType == "application/json")
        #expect(response.value(forHeader: "x-trace") == "1")
    }

    @Test("API-201 A form, a stream, a file and a multipart form arrive as the bytes that they are made of")
    func bodies() async throws {
        let manager = URLSessionManager { request in
            .text("\(request.value(forHeader: "content-length") ?? "chunked") \(request.text)")
        }
        func echo(_ body: RequestBody) async throws -> String {
            let request = try SessionRequest("https://api.example.com/", method: .put, body: body)
            return String(decoding: try await manager.data(for: request).0, as: UTF8.self)
        }
        #expect(try await echo(.data(Data("abc".utf8))) == "3 abc")
        let chunks = AsyncStream<Data> { continuation in
            for text in ["one ", "two"] { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
        #expect(try await echo(.stream(StreamedBody(chunks))) == "chunked one two")
        let store = try await TemporaryOutbox()
        let path = store.folder + "/body"
        try Data("of a file".utf8).write(to: URL(filePath: path))
        #expect(try await echo(.file(path: path)) == "9 of a file")
        await store.close()

        let api = try HTTPSessionManager(baseURL: "https://api.example.com") { request in
            if request.path == "/form" {
                #expect(request.form == ["a b": "1&2", "c": ""])
            } else {
                #expect(request.value(forHeader: "content-type")?.hasPrefix("multipart/form-data") == true)
                #expect(request.text.contains("name=\"part\"\r\n\r\nvalue\r\n"), "\(request.text)")
            }
            return .status(204)
        }
        api.responseSerializer = HTTPResponseSerializer()
        let form = try api.dataTask(.post, "form", parameters: ["a b": "1&2", "c": ""])
        form.resume()
        #expect(await form.outcome().error == nil)
        var parts = MultipartFormData()
        try parts.append("value", name: "part")
        let multipart = try api.urlSessionManager.uploadTask(
            withStreamedRequest: api.request(.post, "parts", multipart: parts))
        multipart.resume()
        #expect(await multipart.outcome().error == nil)
    }

    private struct Broken: Error {}

    @Test(
        "API-202 A failure has the words of a real one; a thrown error is the request's, a SessionError as it is"
    )
    func failures() async throws {
        let manager = URLSessionManager { request in
            switch request.path {
            case "/refused": return .failure(.cannotConnectToHost)
            case "/own": throw SessionError(.badServerResponse, "as I say")
            case "/other": throw Broken()
            default: return .json(Double.nan)
            }
        }
        func error(_ path: String, _ method: HTTPRequest.Method = .get) async throws -> SessionError? {
            let body = method == .post ? RequestBody.data(Data("x".utf8)) : nil
            let task = try manager.dataTask(
                with: SessionRequest("https://api.example.com" + path, method: method, body: body))
            task.resume()
            return await task.outcome().error
        }
        let refused = try await error("/refused", .post)
        // Nothing was sent, so that the outcome is known although it is a POST.
        #expect(refused?.code == .cannotConnectToHost, "\(String(describing: refused))")
        #expect(refused?.transport?.curlCode == 7 && refused?.failingURL?.path() == "/refused")
        #expect(try await error("/own")?.message == "as I say")
        let other = try await error("/other")
        #expect(other?.code == .unknown && other?.underlying is Broken)
        #expect(try await error("/nan")?.message.hasPrefix("the test's answer cannot be written") == true)
    }

    @Test("API-203 Redirects, challenges and retries are the library's own; attempt counts repetitions")
    func repetitions() async throws {
        let seen = Mutex<[String]>([])
        let manager = URLSessionManager(responseSerializer: HTTPResponseSerializer()) { request in
            seen.withLock { $0.append("\(request.path) \(request.attempt)") }
            switch request.path {
            case "/old": return .redirect(to: "/secret")
            case "/secret":
                guard request.value(forHeader: "authorization") == "Basic dXNlcjpwYXNz" else {
                    return .status(401, headers: ["WWW-Authenticate": "Basic realm=\"test\""])
                }
                return .redirect(to: "/busy")
            default: return request.attempt < 3 ? .status(503) : .text("done")
            }
        }
        var policy = RetryPolicy()
        policy.scale = 0
        manager.interceptor = Interceptor(retriers: [policy])
        var options = TaskOptions()
        options.credential = .password(user: "user", password: "pass")
        let task = try manager.dataTask(
            with: SessionRequest("https://api.example.com/old"), options: options)
        task.resume()
        let outcome = await task.outcome()
        #expect(
            outcome.data == Data("done".utf8), "\(String(describing: outcome.error)), \(seen.withLock { $0 })"
        )
        #expect(seen.withLock { $0.prefix(4) } == ["/old 1", "/secret 1", "/secret 2", "/busy 1"])
        #expect(seen.withLock { $0.last } == "/busy 3")
    }

    @Test("API-204 The cache stores an answer, and asks whether it is still good")
    func caching() async throws {
        let store = try await TemporaryOutbox()
        let conditions = Mutex<[String?]>([])
        let manager = URLSessionManager { request in
            conditions.withLock { $0.append(request.value(forHeader: "if-none-match")) }
            return .file(Data("content".utf8), etag: "1", headers: ["Cache-Control": "no-cache"])
        }
        manager.cache = DiskResponseCache(directory: store.folder + "/cache")
        for count in [7, 0] as [Int64] {
            let task = try manager.dataTask(with: SessionRequest("https://api.example.com/"))
            task.resume()
            let outcome = await task.outcome()
            #expect(outcome.data == Data("content".utf8) && outcome.response?.statusCode == 200)
            #expect(task.metrics.last?.bytesReceived == count)
        }
        #expect(conditions.withLock { $0 } == [nil, "\"1\""])
        await store.close()
    }

    @Test("API-205 A host gets as many requests at once as the configuration says; cancelling ends one")
    func limits() async throws {
        let (arrivals, arrived) = AsyncStream<String>.makeStream()
        var configuration = SessionConfiguration()
        configuration.maximumConnectionsPerHost = 2
        let manager = URLSessionManager(configuration: configuration) { request in
            arrived.yield(request.path)
            return .silence
        }
        // Without a limit of silence, which would pass on a busy machine.
        let patient = RequestOptions { $0.timeoutInterval = .zero }
        let tasks = try (0..<3).map {
            try manager.dataTask(
                with: SessionRequest("https://api.example.com/\($0)", options: patient))
        }
        let events = manager.events
        for task in tasks { task.resume() }
        _ = try await events.first(within: .seconds(60), "a wait for a turn") {
            if case .held(let held, .turn) = $0 { held === tasks[2] } else { false }
        }
        let first = try await arrivals.first(within: .seconds(60)) { _ in true }
        let second = try await arrivals.first(within: .seconds(60)) { _ in true }
        #expect(Set([first, second]) == ["/0", "/1"])
        // To another host, which has room: what could leave before has left.
        let other = try manager.dataTask(with: SessionRequest("https://other.example.com/other"))
        other.resume()
        #expect(try await arrivals.first(within: .seconds(60)) { _ in true } == "/other")
        other.cancel()
        tasks[0].cancel()
        #expect(await tasks[0].outcome().error?.code == .cancelled)
        #expect(try await arrivals.first(within: .seconds(60)) { _ in true } == "/2")
        for task in tasks { task.cancel() }
    }

    @Test("API-206 Content is decoded, bounded and checked against its length as that of a server is")
    func content() async throws {
        // "hello" by gzip(1) -n.
        let packed: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5,
            0, 0,
            0,
        ]
        let manager = URLSessionManager { request in
            switch request.path {
            case "/gzip":
                #expect(request.value(forHeader: "accept-encoding")?.contains("gzip") == true)
                return .data(Data(packed), headers: ["Content-Encoding": "gzip"])
            case "/short": return .text("abc", headers: ["Content-Length": "10"])
            default: return .text("abc").header("Content-Length", "3").header("Content-Length", "4")
            }
        }
        func outcome(_ path: String) async throws -> TaskOutcome {
            let task = try manager.dataTask(with: SessionRequest("https://api.example.com" + path))
            task.resume()
            return await task.outcome()
        }
        #expect(try await outcome("/gzip").data == Data("hello".utf8))
        #expect(try await outcome("/short").error?.code == .networkConnectionLost)
        #expect(try await outcome("/two").error?.message.contains("two lengths") == true)
    }

    @Test("API-208 Cookies of an answer are sent with the next request, to their host and path alone")
    func cookies() async throws {
        let manager = URLSessionManager { request in
            switch request.path {
            case "/login":
                Answer.text(request.value(forHeader: "cookie") ?? "none")
                    .header("Set-Cookie", "session=1; Path=/api; HttpOnly; Secure")
                    .header("Set-Cookie", "all=2; Domain=example.com; Path=/; Max-Age=60")
            case "/logout":
                .status(204, headers: ["Set-Cookie": "all=; Domain=example.com; Path=/; Max-Age=0"])
            default: .text(request.value(forHeader: "cookie") ?? "none")
            }
        }
        func cookies(_ address: String, _ change: (inout SessionRequest) -> Void = { _ in }) async throws
            -> String
        {
            var request = try SessionRequest(address)
            change(&request)
            return String(decoding: try await manager.data(for: request).0, as: UTF8.self)
        }
        #expect(try await cookies("https://api.example.com/login") == "none")
        #expect(try await cookies("https://api.example.com/api/a") == "session=1; all=2")
        #expect(try await cookies("http://api.example.com/api/a") == "all=2")
        #expect(try await cookies("https://api.example.com/apis") == "all=2")
        #expect(try await cookies("https://www.example.com/api/a") == "all=2")
        #expect(try await cookies("https://example.org/") == "none")
        #expect(try await cookies("https://api.example.com/") { $0.options.handlesCookies = false } == "none")
        _ = try await cookies("https://api.example.com/logout")
        #expect(try await cookies("https://api.example.com/api/") == "session=1")
    }

    @Test(
        "API-209 A suspended task gets no bytes, no slot and no time-out, before it is sent and in the middle"
    )
    func suspension() async throws {
        let clock = ManualClock()
        var configuration = SessionConfiguration()
        configuration.maximumConnectionsPerHost = 1
        let paths = Mutex<[String]>([])
        let manager = URLSessionManager(clock: clock, configuration: configuration) { request in
            paths.withLock { $0.append(request.path) }
            return .chunks([Data("a".utf8), Data("b".utf8)], every: .seconds(10), on: clock)
        }
        func task(_ name: String) throws -> SessionTask {
            try manager.dataTask(with: SessionRequest("https://api.example.com/\(name)"))
        }
        let (first, second) = (try task("first"), try task("second"))
        first.resume()
        try await clock.waitForSleepers()
        // Waits for the only slot of its host, so that it is not sent before it is suspended.
        second.resume()
        second.suspend()
        first.suspend()
        await clock.advance(by: .seconds(3_600))
        #expect(paths.withLock { $0 } == ["/first"] && first.downloadProgress.completedBytes <= 1)
        second.resume()
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(10))
        #expect(await second.outcome().data == Data("ab".utf8))
        first.resume()
        #expect(await first.outcome().data == Data("ab".utf8))
        #expect(paths.withLock { $0 } == ["/first", "/second"])
    }

    @Test("API-559 a refusal of a download's rest is retried, also where a delegate is asked about responses")
    func refusedRest() async throws {
        let content = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 % 251) })
        let ranges = Mutex<[String?]>([])
        let manager = URLSessionManager { request in
            let count = ranges.withLock {
                $0.append(request.value(forHeader: "range"))
                return $0.count
            }
            if count == 2 { return .status(503) }
            let file = Answer.file(content, etag: "1")
            return count == 1 ? file.breaking(after: 20_000) : file
        }
        manager.delegate = Allowing()
        var options = TaskOptions()
        var policy = RetryPolicy()
        policy.scale = 0.001
        options.interceptor = policy
        let task = try manager.downloadTask(
            with: SessionRequest("https://api.example.com/file"), options: options)
        task.resume()
        let outcome = await task.outcome()
        let path = try #require(outcome.filePath, "\(String(describing: outcome.error))")
        #expect(try Data(contentsOf: URL(filePath: path)) == content)
        #expect(ranges.withLock { $0 } == [nil, "bytes=20000-", "bytes=20000-"])
        try FileManager.default.removeItem(atPath: path)
    }

    @Test("API-207 A copy of a manager answers too, a session that was reset as well")
    func copies() async throws {
        let manager = URLSessionManager { _ in .text("answered") }
        let request = try SessionRequest("https://api.example.com/")
        #expect(try await manager.copy().data(for: request).0 == Data("answered".utf8))
        manager.invalidate(resettingSession: true)
        #expect(try await manager.data(for: request).0 == Data("answered".utf8))
    }
}

/// A delegate that allows everything.
private final class Allowing: SessionDelegate {
    func task(_ task: SessionTask, didReceive response: SessionResponse) async -> ResponseDisposition {
        .allow
    }
}
