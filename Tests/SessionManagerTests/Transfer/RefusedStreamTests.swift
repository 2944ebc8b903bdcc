// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Streams of HTTP/2 that a server ends without an answer (RFC 9113 §6.8, §8.7).
@Suite(
    "Refused streams",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct RefusedStreamTests {
    /// `Tests/Origin/http2` and a manager that speaks to it.
    private struct Server {
        private let lab: NetworkLab
        let program: RunningProgram
        let manager: URLSessionManager
        let url: String

        /// - Parameter number: which request is ended so.
        init(_ fault: String, at number: Int) async throws {
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
            manager = URLSessionManager(
                configuration: configuration, securityPolicy: policy, on: lab.near.reactor)
        }

        func run(_ method: HTTPRequest.Method, isIdempotent: Bool? = nil) async throws -> TaskOutcome {
            var options = TaskOptions()
            options.isIdempotent = isIdempotent
            let body: RequestBody? = method == .get ? nil : .data(Data("x".utf8))
            let task = try manager.dataTask(
                with: SessionRequest(url, method: method, body: body), options: options)
            task.resume()
            return await task.outcome()
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
        "a stream that ends otherwise is a lost connection, and a POST is not sent again",
        arguments: ["goaway", "internal", "reset"])
    func lost(_ fault: String) async throws {
        let server = try await Server(fault, at: 1)
        defer { server.program.terminate() }
        #expect(try await server.run(.post).error?.code == .networkConnectionLost)
        #expect(await server.count(1) == 1)
        #expect(try await server.run(.post).error == nil)
    }
}
