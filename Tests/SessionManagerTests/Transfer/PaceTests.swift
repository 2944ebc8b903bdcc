// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import ReachTesting
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Limits of speed, on a clock that the test moves.
@Suite(.timeLimit(.minutes(10))) struct PaceTests {
    private let clock = ManualClock()
    private let content = Data(repeating: 7, count: 100_000)

    /// How many bytes may have passed after so many seconds at 10,000 a second: a part of a second's more.
    private func bytes(after seconds: Int64) -> ClosedRange<Int64> {
        (10_000 * seconds - 1_250)...(10_000 * seconds + 2_500)
    }

    private func manager(_ configuration: SessionConfiguration = SessionConfiguration()) -> URLSessionManager
    {
        URLSessionManager(clock: clock, configuration: configuration) { [content] request in
            request.method == .get ? .data(content) : .text("\(request.body.count)")
        }
    }

    /// A task that has moved its first bytes, which another one may keep from that.
    private func start(
        _ manager: URLSessionManager, _ method: HTTPRequest.Method, waits: Bool = true,
        _ change: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> SessionTask {
        var request = try SessionRequest("https://api.example.com/", method: method)
        if method != .get { request.body = .data(content) }
        change(&request.options)
        request.options.timeoutInterval = .zero
        let log = EventLog<Int64>()
        var options = TaskOptions()
        options.uploadProgress = { if method != .get { log.append($0.completedBytes) } }
        options.downloadProgress = { if method == .get { log.append($0.completedBytes) } }
        let task = try manager.dataTask(with: request, options: options)
        task.resume()
        if waits { await log.wait { !$0.isEmpty } }
        return task
    }

    @Test("API-525 A body keeps to its own limit, the content to another")
    func upload() async throws {
        let manager = manager()
        let task = try await start(manager, .post) {
            $0.maximumUploadBytesPerSecond = 10_000
            $0.maximumBytesPerSecond = 1_000_000
        }
        await clock.advance(by: .seconds(1))
        #expect(bytes(after: 1).contains(task.uploadProgress.completedBytes))
        await clock.advance(by: .seconds(4))
        #expect(bytes(after: 5).contains(task.uploadProgress.completedBytes))
        await clock.advance(by: .seconds(10))
        #expect(await task.outcome().data == Data("100000".utf8))
    }

    @Test("UPL-557 A small body keeps to a low limit as well")
    func smallBody() async throws {
        let manager = manager()
        var request = try SessionRequest(
            "https://api.example.com/", method: .post, body: .data(content.prefix(1000)))
        request.options.maximumUploadBytesPerSecond = 100
        request.options.timeoutInterval = .zero
        let log = EventLog<Int64>()
        var options = TaskOptions()
        options.uploadProgress = { log.append($0.completedBytes) }
        let task = try manager.dataTask(with: request, options: options)
        task.resume()
        await log.wait { !$0.isEmpty }
        #expect(log.elements.first ?? 1000 <= 64)
        await clock.advance(by: .seconds(5))
        #expect((400...600).contains(task.uploadProgress.completedBytes))
        await clock.advance(by: .seconds(6))
        #expect(await task.outcome().data == Data("1000".utf8))
    }

    /// Moves the clock until downloads have ended, together never faster than 10,000 bytes a second.
    private func expectPace(_ tasks: SessionTask...) async {
        var seconds: Int64 = 0
        let count = Int64(tasks.count)
        while tasks.contains(where: { $0.state != .completed }) {
            await clock.advance(by: .seconds(1))
            seconds += 1
            // An answer is handed over in pieces of 16 KiB.
            let received = tasks.reduce(0) { $0 + $1.downloadProgress.completedBytes }
            #expect(received <= 10_000 * seconds + 18_900 * count, "\(received) after \(seconds) s")
        }
        #expect(seconds >= 10 * count - 2)
        for task in tasks { #expect(await task.outcome().data == content) }
    }

    @Test("API-526 A limit of both directions holds for each, and none is none")
    func both() async throws {
        let limited = manager()
        let task = try await start(limited, .post) { $0.maximumBytesPerSecond = 10_000 }
        await clock.advance(by: .seconds(5))
        #expect(bytes(after: 5).contains(task.uploadProgress.completedBytes))
        task.cancel()
        await expectPace(try await start(limited, .get) { $0.maximumBytesPerSecond = 10_000 })
        for method in [HTTPRequest.Method.post, .get] {
            #expect(try await start(limited, method).outcome().error == nil)
        }
    }

    @Test("API-527 The transfers of a session share its limit")
    func session() async throws {
        var configuration = SessionConfiguration()
        configuration.maximumUploadBytesPerSecond = 10_000
        let manager = manager(configuration)
        let tasks = [try await start(manager, .post), try await start(manager, .put, waits: false)]
        while tasks[1].uploadProgress.completedBytes == 0 { await clock.advance(by: .milliseconds(50)) }
        let before = tasks.map(\.uploadProgress.completedBytes)
        await clock.advance(by: .seconds(4))
        let sent = zip(tasks, before).map { $0.uploadProgress.completedBytes - $1 }
        #expect((38_000...42_500).contains(sent[0] + sent[1]), "\(sent)")
        #expect(sent.allSatisfy { $0 > 5_000 }, "\(sent)")
        await clock.advance(by: .seconds(30))
        for task in tasks { #expect(await task.outcome().error == nil) }
        // Content is none of its concern.
        #expect(try await start(manager, .get).outcome().data == content)
        let data = try JSONEncoder().encode(configuration)
        #expect(try JSONDecoder().decode(SessionConfiguration.self, from: data) == configuration)
    }

    @Test("API-528 Downloads of a session share another")
    func downloads() async throws {
        var configuration = SessionConfiguration()
        configuration.maximumDownloadBytesPerSecond = 10_000
        let manager = manager(configuration)
        let first = try await start(manager, .get)
        await expectPace(first, try await start(manager, .get, waits: false))
        // Bodies are none of its concern.
        #expect(try await start(manager, .post).outcome().data == Data("100000".utf8))
    }

    @Test("API-529 Bodies under a shared limit arrive whole", arguments: [OriginListener.direct, .h2])
    func whole(_ listener: OriginListener) async throws {
        let lab = try await Lab { $0.maximumUploadBytesPerSecond = 400_000 }
        lab.trustOrigin()
        try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<3 {
                group.addTask { [content] in
                    try await lab.run(
                        lab.request("/upload", .post, at: listener, body: .data(content))
                    ).json?["count"]?.int
                }
            }
            for try await count in group { #expect(count == content.count) }
        }
    }
}
