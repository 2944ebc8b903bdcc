// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import Synchronization
import TestSupport
import Testing

/// Streams of HTTP/2 that a server ends without an answer (RFC 9113 §6.8, §8.7).
@Suite(
    "Refused streams",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct RefusedStreamTests {
    /// `Tests/Origin/http2` and a manager that speaks to it.
    private struct Server {
        let lab: NetworkLab
        let program: RunningProgram
        let manager: URLSessionManager
        let url: String

        /// - Parameter number: which request is ended so.
        init(_ fault: String, at number: Int, sendsBodiesByHTTP2: Bool? = true) async throws {
            let origin = try await TestSupport.Origin.shared
            let script =
                "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Origin/http2"
            lab = try await NetworkLab(.f0)
            program = try await lab.near.start([
                "/usr/bin/python3", "-B", script, origin.chain(.leaf), origin.key(.leaf), fault, "\(number)",
            ])
            let port = try #require(await program.output.wait(forCount: 1).first)
            url = "https://127.0.0.1:\(port)/"
            var policy = SecurityPolicy.default
            policy.trustRoots = .only(.file(origin.pem(.root)))
            var configuration = SessionConfiguration()
            configuration.proxy = ""
            configuration.sendsBodiesByHTTP2 = sendsBodiesByHTTP2
            manager = URLSessionManager(
                configuration: configuration, securityPolicy: policy, on: lab.near.reactor)
        }

        func run(
            _ method: HTTPRequest.Method, isIdempotent: Bool? = nil, key: String? = nil,
            body: RequestBody = .data(Data("x".utf8))
        ) async throws -> TaskOutcome {
            var options = TaskOptions()
            options.isIdempotent = isIdempotent
            let body: RequestBody? = method == .get ? nil : body
            var request = try SessionRequest(url, method: method, body: body)
            if let key, let name = HTTPField.Name("Idempotency-Key") { request.headerFields[name] = key }
            let task = try manager.dataTask(with: request, options: options)
            task.resume()
            return await task.outcome()
        }

        /// The bytes of the bodies of the requests that have come to their end.
        var bodies: [Int] {
            program.output.elements.dropFirst().compactMap {
                $0.split(separator: " ").last.flatMap { Int($0) }
            }
        }

        /// How many requests have come, once it is so many; each is told before it is answered or ended.
        func count(_ expected: Int) async -> Int {
            await program.output.wait(forCount: expected + 1, within: .seconds(10)).count - 1
        }
    }

    @Test("a POST that was refused on a connection of its own was not touched, and is sent again")
    func own() async throws {
        let server = try await Server("refuse", at: 1)
        defer { server.program.terminate() }
        let outcome = try await server.run(.post)
        #expect(outcome.error == nil)
        #expect(outcome.response?.statusCode == 200)
        #expect(await server.count(2) == 2)
    }

    @Test(
        "on a connection that others have used before it may be a broken connection: the outcome is unknown",
        arguments: ["refuse", "reset"])
    func shared(_ fault: String) async throws {
        let server = try await Server(fault, at: 2)
        defer { server.program.terminate() }
        #expect(try await server.run(.get).error == nil)
        let error = try await server.run(.post).error
        #expect(error?.code == .networkConnectionLost)
        #expect(error?.description.contains("outcome is unknown") == true, "\(String(describing: error))")
        #expect(await server.count(2) == 2)
    }

    @Test("what may be carried out twice is sent again in any case", arguments: ["refuse", "reset"])
    func idempotent(_ fault: String) async throws {
        for isPost in [false, true] {
            let server = try await Server(fault, at: 2)
            defer { server.program.terminate() }
            #expect(try await server.run(.get).error == nil)
            #expect(
                try await server.run(isPost ? .post : .get, isIdempotent: isPost ? true : nil).error == nil)
            #expect(await server.count(3) == 3)
        }
    }

    @Test(
        "UPL-559 A POST with an Idempotency-Key is sent again, but not where the task says that it must not be"
    )
    func keyed() async throws {
        for isForbidden in [false, true] {
            let server = try await Server("reset", at: 2)
            defer { server.program.terminate() }
            #expect(try await server.run(.get).error == nil)
            let error = try await server.run(.post, isIdempotent: isForbidden ? false : nil, key: "a").error
            #expect((error == nil) == !isForbidden, "\(String(describing: error))")
            #expect(await server.count(isForbidden ? 2 : 3) == (isForbidden ? 2 : 3))
        }
    }

    @Test(
        "a stream that ends otherwise is a lost connection, and a POST is not sent again",
        arguments: ["goaway", "internal", "reset"])
    func lost(_ fault: String) async throws {
        let server = try await Server(fault, at: 1)
        defer { server.program.terminate() }
        #expect(try await server.run(.post).error?.code == .networkConnectionLost)
        #expect(await server.count(1) == 1)
        #expect(try await server.run(.post).error == nil)
    }

    /// libcurl has read a body's beginning, may not send it, and begins anew without having it rewound.
    @Test("what is sent again is the whole body, also where nothing of it had left before")
    func wholeBody() async throws {
        let chunks = [Data(repeating: 1, count: 10_000), Data(repeating: 2, count: 5_000)]
        let sequence = { @Sendable in
            AsyncStream { continuation in
                for chunk in chunks { continuation.yield(chunk) }
                continuation.finish()
            }
        }
        for body in [
            RequestBody.data(Data(repeating: 3, count: 15_000)), .stream(StreamedBody(rewindingBy: sequence)),
        ] {
            let server = try await Server("stuck", at: 0)
            defer { server.program.terminate() }
            // The window is known by then.
            #expect(try await server.run(.get).error == nil)
            #expect(try await server.run(.put, body: body).error == nil)
            #expect(await server.count(2) == 2)
            #expect(server.bodies == [0, 15_000])
        }
    }

    /// libcurl 7.88 to 8.1 loses count then: lines of a request's head go out as content, and content twice.
    @Test("where the kernel takes no more for a while, what arrives of uploads at once is what was sent")
    func fullSendBuffer() async throws {
        let server = try await Server("slow", at: 0, sendsBodiesByHTTP2: nil)
        defer { server.program.terminate() }
        try await server.lab.near.sysctl("net.ipv4.tcp_wmem", "4096 8192 16384")
        let content = Data(repeating: 5, count: 300_001)
        let pieces = { @Sendable in
            AsyncStream { continuation in
                for start in stride(from: 0, to: content.count, by: 10_000) {
                    continuation.yield(content[start..<min(start + 10_000, content.count)])
                }
                continuation.finish()
            }
        }
        let outcomes = try await withThrowingTaskGroup(of: TaskOutcome.self) { group in
            for number in 0..<36 {
                let body: RequestBody =
                    number % 2 == 0 ? .data(content) : .stream(StreamedBody(rewindingBy: pieces))
                group.addTask { try await server.run(.put, body: body) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.allSatisfy { $0.error == nil && $0.response?.statusCode == 200 })
        #expect(await server.count(36) == 36)
        #expect(server.bodies == Array(repeating: content.count, count: 36))
    }

    @Test("a body that can be made but once is not sent from its middle")
    func bodyThatIsGone() async throws {
        let server = try await Server("stuck", at: 0)
        defer { server.program.terminate() }
        #expect(try await server.run(.get).error == nil)
        let outcome = try await server.run(.put, body: .stream(OneBody(Data(repeating: 1, count: 10_000))))
        // Refused before libcurl has read of it, it is still there.
        let isWhole = outcome.error == nil
        #expect(isWhole || outcome.error?.code == .requestBodyStreamExhausted)
        #expect(await server.count(isWhole ? 2 : 1) == (isWhole ? 2 : 1))
        #expect(server.bodies == (isWhole ? [0, 10_000] : [0]))
    }
}

/// A body that can be made but once, and has its bytes at once.
private final class OneBody: BodySource, BodyReader {
    private let rest: Mutex<Data>

    init(_ content: Data) { rest = Mutex(content) }

    var length: Int64? { nil }
    var isRewindable: Bool { false }

    func makeReader() throws(SessionError) -> any BodyReader {
        guard !isMade.exchange(true, ordering: .relaxed) else {
            throw SessionError(.requestBodyStreamExhausted, "it was made already")
        }
        return self
    }

    private let isMade = Atomic<Bool>(false)

    func read(into target: UnsafeMutableRawBufferPointer) throws(SessionError) -> BodyRead {
        rest.withLock { rest in
            let content = rest
            guard !content.isEmpty else { return .end }
            let count = min(content.count, target.count)
            content.prefix(count).copyBytes(to: target)
            rest = content.dropFirst(count)
            return .bytes(count)
        }
    }

    func whenReadable(_ callback: @escaping @Sendable () -> Void) { callback() }
}
