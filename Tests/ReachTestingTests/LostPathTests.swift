// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import ReachTesting
import Synchronization
import Testing

/// Paths and connections that are lost in the middle.
@Suite struct LostPathTests {
    private let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    @Test("API-210 A download whose path is lost goes on by range on the next network, once that is there")
    func range() async throws {
        let network = ScriptedNetwork(.wired)
        let ranges = Mutex<[String?]>([])
        let manager = URLSessionManager(network: network) { [content] request in
            ranges.withLock { $0.append(request.value(forHeader: "range")) }
            let file = Answer.file(content, etag: "1")
            guard request.attempt == 1 else { return file }
            return file.losingPath(after: 40_000, "eth0: no carrier")
        }
        let steps = manager.recordSteps()
        let store = try await TemporaryOutbox()
        let path = store.folder + "/file"
        let task = Task {
            try await manager.download(
                SessionRequest("https://api.example.com/file"), to: DownloadDestination(path))
        }
        let parked = try await steps.first(within: .seconds(60), "a pause") {
            if case .parked = $0.step { true } else { false }
        }
        #expect("\(parked.step)" == "parked: eth0: no carrier")
        #expect(try await task.value.statusCode == 206)
        #expect(try Data(contentsOf: URL(filePath: path)) == content)
        #expect(ranges.withLock { $0 } == [nil, "bytes=40000-"])
        await store.close()
    }

    @Test("API-211 Content that has changed meanwhile comes anew as a whole")
    func changed() async throws {
        let manager = URLSessionManager { [content] request in
            request.attempt == 1
                ? .file(Data(content.reversed()), etag: "1").losingPath(after: 30_000)
                : .file(content, etag: "2")
        }
        let task = try manager.downloadTask(with: SessionRequest("https://api.example.com/file"))
        task.resume()
        let outcome = await task.outcome()
        let path = try #require(outcome.filePath, "\(String(describing: outcome.error))")
        #expect(try Data(contentsOf: URL(filePath: path)) == content)
        try FileManager.default.removeItem(atPath: path)
    }

    @Test(
        "API-216 A file answers one range, with If-Range only of its own version",
        arguments: [
            ("bytes=2-4", nil, 206, "cde", "bytes 2-4/10"), ("bytes=7-", nil, 206, "hij", "bytes 7-9/10"),
            ("bytes=-3", nil, 206, "hij", "bytes 7-9/10"), ("bytes=8-99", nil, 206, "ij", "bytes 8-9/10"),
            ("bytes=2-4", "\"1\"", 206, "cde", "bytes 2-4/10"),
            ("bytes=2-4", "\"0\"", 200, "abcdefghij", nil),
            ("bytes=1-2,4-5", nil, 200, "abcdefghij", nil), ("lines=1-2", nil, 200, "abcdefghij", nil),
            ("bytes=10-", nil, 416, "", "bytes */10"),
        ] as [(String, String?, Int, String, String?)])
    func ranges(
        _ range: String, _ version: String?, _ status: Int, _ content: String, _ contentRange: String?
    ) async throws {
        let manager = URLSessionManager { _ in .file(Data("abcdefghij".utf8), etag: "1") }
        var request = try SessionRequest("https://api.example.com/file")
        request.headerFields[.range] = range
        request.headerFields[.ifRange] = version
        let (data, response) = try await manager.data(for: request)
        #expect(response.statusCode == status && data == Data(content.utf8))
        #expect(response.value(forHeader: "content-range") == contentRange)
    }

    @Test("API-212 A PUT whose path is lost is sent again; of a POST the outcome is unknown")
    func sendingAgain() async throws {
        let manager = URLSessionManager { request in
            request.attempt == 1 ? .pathLost("wlan0: no carrier") : .text(request.text)
        }
        func send(_ method: HTTPRequest.Method) async throws -> TaskOutcome {
            let request = try SessionRequest(
                "https://api.example.com/", method: method, body: .data(Data("sample".utf8)))
            let task = try manager.uploadTask(withStreamedRequest: request)
            task.resume()
            return await task.outcome()
        }
        #expect(try await send(.put).data == Data("sample".utf8))
        let error = try await send(.post).error
        #expect(error?.code == .networkConnectionLost)
        #expect(error?.message.contains("wlan0: no carrier") == true)
        #expect(error?.message.contains("outcome is unknown") == true)
        let empty = try manager.dataTask(
            with: SessionRequest("https://api.example.com/empty", method: .post))
        empty.resume()
        #expect(await empty.outcome().error?.message.contains("outcome is unknown") == true)
    }

    @Test("API-213 A connection that breaks fails the try, and a retrier has the rest asked for")
    func breaking() async throws {
        let ranges = Mutex<[String?]>([])
        let manager = URLSessionManager { [content] request in
            ranges.withLock { $0.append(request.value(forHeader: "range")) }
            let file = Answer.file(content, etag: "1")
            return request.attempt == 1 ? file.breaking(after: 50_000) : file
        }
        var policy = RetryPolicy()
        policy.scale = 0
        manager.interceptor = Interceptor(retriers: [policy])
        let task = try manager.downloadTask(with: SessionRequest("https://api.example.com/file"))
        task.resume()
        let outcome = await task.outcome()
        let path = try #require(outcome.filePath, "\(String(describing: outcome.error))")
        #expect(try Data(contentsOf: URL(filePath: path)) == content)
        #expect(ranges.withLock { $0 } == [nil, "bytes=50000-"])
        try FileManager.default.removeItem(atPath: path)
    }

    @Test("API-214 A stream goes on where it was cut off; without an ETag it fails")
    func stream() async throws {
        let manager = URLSessionManager { [content] request in
            if request.path == "/none" { return .data(content).losingPath(after: 20_000) }
            let file = Answer.file(content, etag: "1")
            return request.attempt == 1 ? file.losingPath(after: 20_000) : file
        }
        func read(_ path: String) async throws -> Data {
            let request = try SessionRequest("https://api.example.com" + path)
            let (_, stream) = try await manager.stream(for: request)
            var data = Data()
            for try await chunk in stream { data.append(chunk) }
            return data
        }
        #expect(try await read("/file") == content)
        let error = await #expect(throws: SessionError.self) { try await read("/none") }
        #expect(error?.code == .networkConnectionLost)
    }

    @Test(
        "API-582 A part without the ETag of the beginning is not joined to it: a download comes anew, a stream fails",
        arguments: [false, true])
    func untoldVersion(_ isElsewhere: Bool) async throws {
        let former = Data(content.reversed())
        let requests = Mutex<[String]>([])
        let manager = URLSessionManager { [content] request in
            let range = request.value(forHeader: "range")
            requests.withLock { $0.append("\(request.path) \(range ?? "-")") }
            if request.attempt == 1, range == nil {
                return .file(former, etag: "1").losingPath(after: 40_000)
            }
            if isElsewhere, request.path == "/file" { return .redirect(to: "https://b.example.com/copy") }
            guard range != nil else { return .data(content) }
            return .data(
                content.dropFirst(40_000), status: 206, headers: ["Content-Range": "bytes 40000-99999/100000"]
            )
        }
        let request = try SessionRequest("https://api.example.com/file")
        let task = try manager.downloadTask(with: request)
        task.resume()
        let outcome = await task.outcome()
        let path = try #require(outcome.filePath, "\(String(describing: outcome.error))")
        #expect(try Data(contentsOf: URL(filePath: path)) == content)
        try FileManager.default.removeItem(atPath: path)
        let end = isElsewhere ? ["/copy bytes=40000-", "/copy -"] : ["/file -"]
        #expect(requests.withLock { $0 } == ["/file -", "/file bytes=40000-"] + end)

        let streaming = URLSessionManager { [content] request in
            guard request.value(forHeader: "range") != nil else {
                return .file(former, etag: "1").losingPath(after: 40_000)
            }
            return .data(
                content.dropFirst(40_000), status: 206, headers: ["Content-Range": "bytes 40000-99999/100000"]
            )
        }
        let (_, stream) = try await streaming.stream(for: request)
        var read = Data()
        let error = await #expect(throws: SessionError.self) {
            for try await chunk in stream { read += chunk }
        }
        #expect(error?.message.contains("the server sends another part in its place") == true)
        #expect(read == former.prefix(40_000))
    }

    @Test("API-215 What the network takes away in the middle waits, and goes on when it is back")
    func parkedByNetwork() async throws {
        let network = ScriptedNetwork(.wifi)
        let manager = URLSessionManager(network: network) { request in
            guard request.attempt == 1 else { return .text("second") }
            network.become(.unreachable, because: "wlan0: out of reach")
            return .silence
        }
        let events = manager.events
        let task = try manager.dataTask(with: SessionRequest("https://api.example.com/"))
        task.resume()
        _ = try await events.first(within: .seconds(60), "a hold") {
            if case .held(_, .network("wlan0: out of reach")) = $0 { true } else { false }
        }
        network.become(.wired)
        #expect(await task.outcome().data == Data("second".utf8))
    }
}
