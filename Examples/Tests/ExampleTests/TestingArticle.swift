// SPDX-License-Identifier: Apache-2.0
// The code of the article "Testing".

import FoundationEssentials
import ReachTesting
import Synchronization
import Testing

private struct User: Codable, Sendable, Equatable {
    var id: Int
    var name: String
}

@Suite struct TestingArticle {
    @Test func aUserIsMade() async throws {
        let api = try HTTPSessionManager(baseURL: "https://api.example.com/v1") { request in
            #expect(request.method == .post && request.path == "/v1/users")
            return .json(User(id: 7, name: request.form["name"] ?? ""), status: 201)
        }
        let user: User = try await api.post("users", parameters: ["name": "Ada"])
        #expect(user == User(id: 7, name: "Ada"))
    }

    @Test func aServerThatIsBusyIsAskedAgain() async throws {
        let clock = ManualClock()
        let manager = URLSessionManager(clock: clock) { request in
            request.attempt == 1
                ? .status(503, headers: ["Retry-After": "120"]) : .text("at last", type: "application/json")
        }
        manager.interceptor = RetryPolicy()
        let steps = manager.recordSteps()
        let task = try manager.dataTask(with: SessionRequest("https://api.example.com/"))
        task.resume()
        _ = try await steps.first(within: .seconds(30), "another try") {
            if case .retrying = $0.step { true } else { false }
        }
        await clock.advance(by: .seconds(121))  // costs no time
        #expect(await task.outcome().data == Data("at last".utf8))
    }

    @Test func aRequestWaitsForTheNetwork() async throws {
        let network = ScriptedNetwork(.unreachable)
        let manager = URLSessionManager(network: network) { _ in .status(204) }
        let events = manager.events  // from before it happens
        let task = try manager.dataTask(with: SessionRequest("https://api.example.com/"))
        task.resume()
        _ = try await events.first(within: .seconds(30), "a hold") {
            if case .held(_, .network("eth0: no carrier")) = $0 { true } else { false }
        }
        network.become(.wifi)
        #expect(await task.outcome().response?.statusCode == 204)
    }

    @Test func aLimitPasses() async throws {
        let clock = ManualClock()
        let manager = URLSessionManager(clock: clock) { _ in
            .text("late").delayed(by: .seconds(90), on: clock)
        }
        let task = try manager.dataTask(with: SessionRequest("https://api.example.com/"))
        task.resume()
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(60))
        #expect(await task.outcome().error?.code == .timedOut)
    }

    @Test func aRecordingIsReplayed() async throws {
        let path =
            FileManager.default.temporaryDirectory.path + "/users-\(UInt64.random(in: 0 ... .max)).jsonl"
        try await record(to: path)
        let recorded = try RecordedExchanges(at: path)
        let api = try HTTPSessionManager(
            baseURL: "https://api.example.com/v1", answering: recorded.answer)
        let user: User = try await api.get("users/7")
        #expect(user.name == "Ada")
        #expect(recorded.unanswered == [])
        try FileManager.default.removeItem(atPath: path)
    }

    private func record(to path: String) async throws {
        let server = URLSessionManager { _ in .json(User(id: 7, name: "Ada")) }
        let recorder = try ExchangeRecorder(to: path, through: server)
        let api = try HTTPSessionManager(
            baseURL: "https://api.example.com/v1", answering: recorder.answer)
        let _: User = try await api.get("users/7")
    }
}
