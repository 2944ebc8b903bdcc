// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import ReachTesting
import TestSupport
import Testing

/// Exchanges that are recorded once and replayed since.
@Suite struct RecordingTests {
    private let folder: ScratchFolder
    private var path: String { folder("exchanges.jsonl") }

    init() throws { folder = try ScratchFolder("reach-recording") }

    @Test("API-250 What a real server has answered is replayed: redirects, bodies, bytes, failures")
    func replay() async throws {
        let origin = try await TestSupport.Origin.shared
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        let base = origin.url("/")
        func run(_ manager: URLSessionManager) async throws -> [String] {
            var seen: [String] = []
            for (method, path, body) in [
                (HTTPRequest.Method.get, "redirect/1", nil), (.post, "post", "sample=1"),
                (.get, "bytes/20000", nil),
            ] as [(HTTPRequest.Method, String, String?)] {
                let request = try SessionRequest(
                    base + path, method: method, body: body.map { .data(Data($0.utf8)) })
                let (data, response) = try await manager.data(for: request)
                seen.append(
                    "\(response.statusCode ?? 0) \(response.url.path()) \(data.count) \(data.hashValue)")
            }
            let task = try manager.dataTask(with: SessionRequest("http://127.0.0.1:1/"))
            task.resume()
            seen.append("\(await task.outcome().error?.code.rawValue ?? 0)")
            return seen
        }
        let recorder = try ExchangeRecorder(
            to: path, through: URLSessionManager(configuration: configuration))
        let real = try await run(URLSessionManager(answering: recorder.answer))
        let recorded = try RecordedExchanges(at: path)
        #expect(recorded.unanswered.count == 5)
        #expect(try await run(URLSessionManager(answering: recorded.answer)) == real)
        #expect(recorded.unanswered == [])
        #expect(real.last == "-1004")
    }

    @Test(
        "API-251 A recording has no credentials: not in fields, addresses, forms and JSON; the program has them"
    )
    func secrets() async throws {
        let server = URLSessionManager { request in
            #expect(request.value(forHeader: "authorization") == "Bearer s3cret")
            return .json(
                ["access_token": "s3cret", "name": "Ada"],
                headers: ["Set-Cookie": "session=s3cret", "X-Own": "s3cret"])
        }
        func send(_ manager: URLSessionManager) async throws -> JSONValue {
            var request = try SessionRequest(
                "https://user:s3cret@api.example.com/login?token=s3cret&a=1", method: .post,
                body: .data(Data("password=s3cret&name=Ada".utf8)))
            // A recording asks a further manager, which may take long on a busy machine.
            request.options.timeoutInterval = .zero
            request.headerFields[.authorization] = "Bearer s3cret"
            request.headerFields[.contentType] = "application/x-www-form-urlencoded"
            return try JSONValue(parsing: try await manager.data(for: request).0)
        }
        let recorder = try ExchangeRecorder(to: path, through: server, secrets: ["X-Own"])
        let answer = try await send(URLSessionManager(answering: recorder.answer))
        #expect(answer == ["access_token": "s3cret", "name": "Ada"])
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(!text.contains("s3cret"), "\(text)")
        #expect(text.contains("https://api.example.com/login?token=-secret-&a=1"), "\(text)")
        let recorded = try RecordedExchanges(at: path, secrets: ["X-Own"])
        let replayed = try await send(URLSessionManager(answering: recorded.answer))
        #expect(replayed == ["access_token": "-secret-", "name": "Ada"])
    }

    @Test("API-252 A request that was not recorded fails with those that were; so does one too many")
    func unrecorded() async throws {
        let line = """
            {"method":"GET","url":"https://api.example.com/a","status":200,"headers":[],"content":"one"}

            {"method":"GET","url":"https://api.example.com/a","status":200,"headers":[],"content":"two"}
            """
        try Data(line.utf8).write(to: URL(filePath: path))
        let recorded = try RecordedExchanges(at: path)
        let manager = URLSessionManager(answering: recorded.answer)
        let other = await #expect(throws: SessionError.self) {
            try await manager.data(for: SessionRequest("https://api.example.com/b"))
        }
        #expect(other?.code == .resourceUnavailable)
        #expect(other?.message.contains("GET https://api.example.com/b is not in") == true)
        #expect(other?.message.contains("left are: GET https://api.example.com/a; GET") == true)
        for text in ["one", "two"] {
            let data = try await manager.data(for: SessionRequest("https://api.example.com/a")).0
            #expect(data == Data(text.utf8))
        }
        let spent = await #expect(throws: SessionError.self) {
            try await manager.data(for: SessionRequest("https://api.example.com/a"))
        }
        #expect(spent?.message.hasSuffix("nothing is left in it") == true)
    }

    @Test("API-253 A recording that is missing or broken says which line, and what to do")
    func broken() throws {
        let missing = #expect(throws: SessionError.self) { try RecordedExchanges(at: folder("none")) }
        #expect(missing?.code == .cannotOpenFile && missing?.advice.contains("ExchangeRecorder") == true)
        try Data("{\"method\":\"GET\",\"url\":\"u\"}\n{\n".utf8).write(to: URL(filePath: path))
        let broken = #expect(throws: SessionError.self) { try RecordedExchanges(at: path) }
        #expect(broken?.message.contains("exchanges.jsonl:2: no recorded exchange") == true)
        let denied = #expect(throws: SessionError.self) { try ExchangeRecorder(to: "/none/there") }
        #expect(denied?.code == .cannotCreateFile)
    }
}
