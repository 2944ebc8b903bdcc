// SPDX-License-Identifier: Apache-2.0

import Dispatch
import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Notes the steps of tasks, as their first words.
private struct Notes {
    let steps = Diary<String>()
    let ended = Box<Bool>()

    var monitor: EventMonitor {
        EventMonitor { [steps, ended] _, step in
            steps.record("\(step)".split(separator: ":").first.map(String.init) ?? "")
            if case .completed = step { ended.put(true) }
        }
    }

    /// All steps up to the last.
    var all: [String] {
        get async {
            _ = await ended.value
            return steps.all
        }
    }
}

private struct Tries: RequestInterceptor {
    func adapt(_ request: SessionRequest, state: RequestState) async throws -> SessionRequest { request }
    func retry(_ request: SessionRequest, state: RequestState, after error: any Error) async
        -> RetryDecision
    {
        state.retryCount == 0 ? .retry : .doNotRetry
    }
}

struct EventMonitorTests {
    private func steps(
        _ path: String, _ change: (Lab, inout TaskOptions) throws -> Void = { _, _ in }
    ) async throws -> [String] {
        let lab = try await Lab()
        let notes = Notes()
        lab.manager.eventMonitors = [notes.monitor]
        var options = TaskOptions()
        try change(lab, &options)
        let task = try lab.manager.dataTask(with: lab.request(path), options: options) { _, _, _ in }
        task.resume()
        return await notes.all
    }

    @Test("each step of a plain task, in order")
    func plain() async throws {
        #expect(
            try await steps("/get") == [
                "created", "resumed", "sent", "received", "measured", "serialized", "completed",
            ])
    }

    @Test("redirects, adapters, retries and challenges")
    func ways() async throws {
        #expect(
            try await steps("/redirect/1") == [
                "created", "resumed", "sent", "received", "measured", "redirected", "sent", "received",
                "measured", "serialized", "completed",
            ])
        #expect(
            try await steps("/retry-after?key=monitor-retry&times=1") { lab, _ in
                lab.manager.interceptor = Tries()
            } == [
                "created", "resumed", "adapted", "sent", "received", "measured", "retrying (1) after -1011",
                "adapted", "sent", "received", "measured", "serialized", "completed",
            ])
        #expect(
            try await steps("/basic-auth/u/p") { _, options in
                options.credential = .password(user: "u", password: "p")
            } == [
                "created", "resumed", "sent", "received", "measured", "challenged", "sent", "received",
                "measured",
                "serialized", "completed",
            ])
    }

    @Test("failures, refused adaptations and content that no serializer takes")
    func failures() async throws {
        struct Refusal: Error {}
        #expect(
            try await steps("/get") { lab, _ in
                lab.manager.interceptor = Interceptor(adapters: [Adapter { _, _ in throw Refusal() }])
            } == ["created", "resumed", "adaptation failed", "completed"])
        #expect(
            try await steps("/html") == [
                "created", "resumed", "sent", "received", "measured", "not serialized", "completed",
            ])
    }

    @Test("suspended, cancelled; without a completion block; and what the cache has")
    func others() async throws {
        let lab = try await Lab()
        let notes = Notes()
        lab.manager.eventMonitors = [notes.monitor]
        let task = try lab.manager.dataTask(with: lab.request("/hold/monitor-gate?key=monitor-held"))
        task.resume()
        try await lab.origin.wait(for: "monitor-held", [.count: 1])
        task.suspend()
        task.resume()
        task.cancel()
        #expect(
            await notes.all == [
                "created", "resumed", "sent", "suspended", "resumed", "cancelled", "measured", "completed",
            ])
        lab.manager.cache = DiskResponseCache(directory: nil)
        lab.manager.eventMonitors = []
        let request = try lab.request("/cache/monitored?key=monitored&cc=max-age%3D60")
        _ = try await lab.manager.data(for: request)
        let second = Notes()
        lab.manager.eventMonitors = [second.monitor]
        _ = try await lab.manager.data(for: request)
        #expect(await second.all == ["created", "resumed", "used the cache", "completed"])
    }

    @Test(
        "a download tells where it went; several monitors hear the same, each where it wants, and a slow one is no obstacle"
    )
    func several() async throws {
        let (lab, folder) = (try await Lab(), try ScratchFolder())
        let (first, second) = (Notes(), Notes())
        let gate = DispatchSemaphore(value: 0)
        let slow = EventMonitor { _, _ in
            // Waits as long as anything else goes on, and lets the next one in.
            gate.wait()
            gate.signal()
        }
        lab.manager.eventMonitors = [slow, first.monitor, second.monitor]
        _ = try await lab.manager.download(
            lab.request("/bytes/1000"), to: DownloadDestination(folder("file")))
        let heard = await first.all
        #expect(
            heard == [
                "created", "resumed", "sent", "received", "measured", "moved to \(folder("file"))",
                "completed",
            ])
        #expect(await second.all == heard)
        gate.signal()
    }

    @Test("steps are described without queries, credentials and content")
    func secrets() throws {
        let request = try SessionRequest("https://user:word@h.example/a?token=secret")
        let text = "\(TaskStep.sent(request))"
        #expect(text == "sent: GET h.example/a")
    }
}
