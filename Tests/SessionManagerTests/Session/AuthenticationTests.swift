// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

struct AuthenticationTests {
    private let right = Credential.password(user: "u", password: "p")

    @Test("AF-147 a handler's credential answers the challenge", arguments: ["basic-auth", "digest-auth"])
    func handler(_ scheme: String) async throws {
        let lab = try await Lab()
        var options = TaskOptions()
        options.challengeHandler = { [right] challenge in
            challenge.previousFailureCount == 0 ? .useCredential(right) : .cancel
        }
        let end = try await lab.run(lab.request("/\(scheme)/u/p"), options: options)
        #expect(end.response?.statusCode == 200)
        #expect(end.error == nil)
    }

    @Test(
        "a credential given beforehand is sent when the server asks",
        arguments: ["basic-auth", "digest-auth"])
    func proposed(_ scheme: String) async throws {
        let lab = try await Lab()
        var options = TaskOptions()
        options.credential = right
        let body = RequestBody.data(Data("x".utf8))
        let end = try await lab.run(lab.request("/\(scheme)/u/p", .post, body: body), options: options)
        #expect(end.response?.statusCode == 200)
    }

    @Test("AF-148 what a handler throws is the task's error")
    func thrown() async throws {
        struct Refusal: Error {}
        let lab = try await Lab()
        var options = TaskOptions()
        options.challengeHandler = { _ in throw Refusal() }
        let end = try await lab.run(lab.request("/basic-auth/u/p"), options: options)
        #expect(end.error?.underlying is Refusal)
        #expect(end.error?.code != .cancelled)
    }

    @Test("AF-149 a handler may take its time")
    func later() async throws {
        let lab = try await Lab()
        let gate = Box<Credential>()
        let asked = Box<Bool>()
        var options = TaskOptions()
        options.challengeHandler = { _ in
            asked.put(true)
            return .useCredential(await gate.value)
        }
        async let end = lab.run(lab.request("/basic-auth/u/p"), options: options)
        #expect(await asked.value)
        gate.put(right)
        #expect(try await end.response?.statusCode == 200)
    }

    @Test("AF-150 a handler cancels")
    func cancelled() async throws {
        let lab = try await Lab()
        var options = TaskOptions()
        options.challengeHandler = { _ in .cancel }
        #expect(try await lab.run(lab.request("/basic-auth/u/p"), options: options).error?.code == .cancelled)
    }

    @Test("AF-152 wrong credentials end in 401 with its content, not in a circle")
    func wrong() async throws {
        let lab = try await Lab()
        var options = TaskOptions()
        options.credential = .password(user: "u", password: "wrong")
        let key = "wrong-credentials"
        let end = try await lab.run(lab.request("/basic-auth/u/p?key=\(key)"), options: options)
        #expect(end.response?.statusCode == 401)
        #expect(end.error?.code == .badServerResponse)
        #expect(end.error?.data?.isEmpty == false)
        #expect(try await lab.origin.count(key) == 2)
        let bare = "no-credentials"
        let without = try await lab.run(lab.request("/basic-auth/u/p?key=\(bare)"))
        #expect(without.response?.statusCode == 401)
        #expect(without.error?.code == .badServerResponse)
        #expect(without.error?.data == end.error?.data)
        #expect(try await lab.origin.count(bare) == 1)
    }

    @Test("a download without credentials is refused as any other, with the server's words")
    func refusedDownload() async throws {
        struct Delegate: SessionDelegate {}
        let lab = try await Lab()
        lab.manager.delegate = Delegate()
        let task = try lab.manager.downloadTask(with: lab.request("/basic-auth/u/p"))
        task.resume()
        let end = await task.outcome()
        #expect(end.response?.statusCode == 401)
        #expect(end.error?.code == .badServerResponse)
        #expect(end.filePath == nil)
        var options = TaskOptions()
        options.credential = .password(user: "u", password: "wrong")
        let wrong = try lab.manager.downloadTask(with: lab.request("/basic-auth/u/p"), options: options)
        wrong.resume()
        #expect(await wrong.outcome().error?.code == .badServerResponse)
        options.credential = right
        let answered = try lab.manager.downloadTask(with: lab.request("/basic-auth/u/p"), options: options)
        answered.resume()
        let file = try #require(await answered.outcome().filePath)
        unlink(file)
    }

    @Test("a stream without credentials has the server's words")
    func refusedStream() async throws {
        let lab = try await Lab()
        var plain = Data()
        let (_, words) = try await lab.manager.stream(for: lab.request("/basic-auth/u/p"))
        for try await chunk in words { plain += chunk }
        #expect(!plain.isEmpty)
        var options = TaskOptions()
        options.credential = .password(user: "u", password: "wrong")
        let (response, content) = try await lab.manager.stream(
            for: lab.request("/basic-auth/u/p"), options: options)
        #expect(response.statusCode == 401)
        var refused = Data()
        for try await chunk in content { refused += chunk }
        #expect(refused == plain)
    }

    @Test(
        "credentials for one origin are not shown to another that a redirect leads to",
        arguments: ["basic-auth", "digest-auth"])
    func redirected(_ scheme: String) async throws {
        let lab = try await Lab()
        var options = TaskOptions()
        options.credential = right
        let key = "credentials-elsewhere-\(scheme)"
        let elsewhere = lab.origin.url("/\(scheme)/u/p?key=\(key)", at: .http, host: "localhost")
        let end = try await lab.run(lab.request("/redirect-to?url=\(elsewhere)"), options: options)
        #expect(end.response?.statusCode == 401)
        #expect(try await lab.origin.count(key) == 1)
    }

    @Test(
        "who was let in is let in again where redirects lead elsewhere and back: nothing was refused",
        arguments: [false, true])
    func back(_ asksHandler: Bool) async throws {
        let lab = try await Lab()
        var options = TaskOptions()
        let asked = Diary<Int>()
        if asksHandler {
            options.challengeHandler = { [right] challenge in
                asked.record(challenge.previousFailureCount)
                return .useCredential(right)
            }
        } else {
            options.credential = right
        }
        let home = lab.origin.url("/digest-auth/u/p")
        let elsewhere = lab.origin.url("/redirect-to?url=\(home)", at: .http, host: "localhost")
        let end = try await lab.run(lab.request("/digest-auth/u/p?url=\(elsewhere)"), options: options)
        #expect(end.response?.statusCode == 200)
        #expect(end.response?.url.absoluteString == home)
        #expect(asked.all == (asksHandler ? [0, 0] : []))
    }

    @Test("what libcurl authenticated with at one origin is not shown to the next")
    func libraryCredentials() async throws {
        let lab = try await Lab()
        var options = TaskOptions()
        options.challengeHandler = { [right] challenge in
            challenge.host == "localhost" ? .cancel : .useCredential(right)
        }
        let elsewhere = lab.origin.url("/digest-auth/u/p", at: .http, host: "localhost")
        _ = try await lab.run(lab.request("/digest-auth/u/p"), options: options)
        let end = try await lab.run(lab.request("/redirect-to?url=\(elsewhere)"), options: options)
        #expect(end.error?.code == .cancelled)
    }
}
