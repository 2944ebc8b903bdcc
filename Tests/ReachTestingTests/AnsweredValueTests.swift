// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import ReachTesting
import Synchronization
import TestSupport
import Testing

/// What a program gets of answers without content, and of requests that cannot be sent.
@Suite struct AnsweredValueTests {
    private struct User: Codable, Sendable {
        var id: Int
        var name: String
    }

    @Test(
        "UPL-548 an answer without content is nil of an optional type, and of another an error that names it")
    func absent() async throws {
        let api = try HTTPSessionManager(baseURL: "https://api.example.com") { request in
            request.path == "/none"
                ? .status(204) : request.path == "/empty" ? .status(200) : .json(User(id: 1, name: "Ada"))
        }
        for address in ["none", "empty"] {
            let user: User? = try await api.get(address)
            #expect(user == nil)
            let error = try #require(
                await #expect(throws: SessionError.self) {
                    let _: User = try await api.get(address)
                })
            #expect(error.message.hasPrefix("the response has no content, and the type User "))
        }
        let user: User? = try await api.get("user")
        #expect(user?.id == 1)
        api.interceptor = Interceptor(retriers: [Retrier { _, _, _ in .doNotRetry }])
        let none: User? = try await api.get("none")
        #expect(none == nil)
    }

    @Test("UPL-548 below the error of a status lies that of the content's type, for values as well")
    func wrongType() async throws {
        let api = try HTTPSessionManager(baseURL: "https://api.example.com") { _ in
            .text("<html>", status: 502).header("Content-Type", "text/html")
        }
        let error = try #require(
            await #expect(throws: SessionError.self) { let _: User = try await api.get("user") })
        #expect(error.code == .badServerResponse)
        #expect((error.underlying as? SessionError)?.code == .cannotDecodeContentData)
    }

    @Test(
        "UPL-552 a URL without a scheme is refused before a server is looked for",
        arguments: ["foo", "/foo", "foo/a:b"])
    func relative(_ text: String) async throws {
        let manager = URLSessionManager { _ in .status(204) }
        let request = SessionRequest(url: try #require(URL(string: text)))
        let error = try #require(
            await #expect(throws: SessionError.self) { try await manager.data(for: request) })
        #expect(error.code == .badURL && error.failingURL == request.url)
        #expect(error.advice == "begin it with https:// or http://")
    }

    @Test("UPL-553 an adapter that is cancelled cancels its request")
    func cancelledAdapter() async throws {
        let manager = URLSessionManager { _ in .status(204) }
        manager.interceptor = Interceptor(
            adapters: [Adapter { _, _ in throw CancellationError() }],
            retriers: [Retrier { _, _, _ in .retry }])
        let error = try #require(
            await #expect(throws: SessionError.self) {
                try await manager.data(for: SessionRequest("https://api.example.com/"))
            })
        #expect(error.isCancellation)
    }

    @Test("UPL-554 a download without content is reported, as done", arguments: [true, false])
    func emptyDownload(isKnown: Bool) async throws {
        let manager = URLSessionManager { _ in
            isKnown ? .data(Data(), headers: ["Content-Length": "0"]) : .chunks([])
        }
        let folder = try ScratchFolder()
        let fractions = Mutex<[Double]>([])
        var options = TaskOptions()
        options.progressQueue = .custom { $0() }
        options.downloadProgress = { progress in
            fractions.withLock { $0.append(progress.fractionCompleted) }
        }
        let task = try manager.downloadTask(
            with: SessionRequest("https://api.example.com/"), options: options,
            destination: .file(folder("file")))
        task.resume()
        #expect(await task.outcome().error == nil)
        #expect(task.downloadProgress.fractionCompleted == 1)
        #expect(fractions.withLock { $0 } == [1])
    }
}
