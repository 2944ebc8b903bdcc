// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import ReachTesting
import SessionCore
import SessionManager
import TestSupport
import Testing
import WebSockets

/// WebSockets whose network goes and comes, on a real kernel and with a network that a test sets.
@Suite(
    "WebSockets and their paths",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(10)))
struct WebSocketPathScenarios {
    /// Two cables to a server of WebSockets behind them, 10.9.0.1.
    private struct Paths {
        let lab: NetworkLab
        let server: SocketServer
        let manager: URLSessionManager

        init(
            follows: NetworkSource = .host("10.9.0.1"),
            _ change: (inout SessionConfiguration) -> Void = { _ in }
        )
            async throws
        {
            lab = try await NetworkLab(.f2)
            try await lab.far.ip("addr add 10.9.0.1/32 dev lo")
            try await lab.far.sysctl("net.ipv4.conf.all.arp_ignore", "1")
            server = try await SocketServer(in: lab.far, "10.9.0.1", port: 8080)
            var configuration = SessionConfiguration()
            configuration.proxy = ""
            change(&configuration)
            var queue = RequestQueue.Settings()
            queue.follows = follows
            queue.settleTime = .milliseconds(10)
            manager = URLSessionManager(
                configuration: configuration, securityPolicy: .default, on: lab.near.reactor, queue: queue)
        }

        func socket(
            _ path: String = "/echo", _ reconnects: WebSocketReconnection = .never
        ) throws -> WebSocket {
            try manager.webSocket(
                "ws://10.9.0.1:8080\(path)", options: WebSocketOptions(reconnects: reconnects))
        }
    }

    @Test("API-360 A cable that is pulled ends a WebSocket at once, and says so")
    func pulled() async throws {
        let paths = try await Paths()
        let socket = try paths.socket()
        try await socket.send("a")
        #expect(try await socket.receive() == .text("a"))
        try await paths.lab.near.ip("link set a0 down")
        let error = await socket.everything().error
        #expect(error?.code == .networkConnectionLost)
        #expect(error?.message.contains("a0") == true)
    }

    @Test("API-361 A WebSocket that asks for it goes on over the other cable, and tells its program")
    func movesOver() async throws {
        let paths = try await Paths()
        let socket = try paths.socket("/echo", .whenPathIsBack)
        try await socket.send("a")
        var iterator = socket.events.makeAsyncIterator()
        #expect(try await iterator.next()?.word == "opened")
        #expect(try await iterator.next()?.word == "a")
        try await paths.lab.near.ip("link set a0 down")
        #expect(try await iterator.next()?.word == "interrupted")
        #expect(try await iterator.next()?.word == "reconnected")
        try await socket.send("b")
        #expect(try await iterator.next()?.word == "b")
        #expect(try await paths.server.requests(2).map(\.peer) == ["10.1.0.2", "10.2.0.2"])
        await socket.close()
        #expect(try await iterator.next() == nil)
    }

    @Test("API-362 Without any path it waits with the network's reason, and connects when one is back")
    func waits() async throws {
        let paths = try await Paths()
        let socket = try paths.socket("/echo", .whenPathIsBack)
        try await socket.opened()
        let events = paths.manager.events  // from before it happens
        try await paths.lab.near.ip(batch: "link set b0 down\nlink set a0 down")
        var iterator = socket.events.makeAsyncIterator()
        #expect(try await iterator.next()?.word == "opened")
        #expect(try await iterator.next()?.word == "interrupted")
        #expect(!socket.isOpen)
        // A message that is sent now waits for the connection.
        let sender = Task { try await socket.send("late") }
        for await event in events {
            if case .held(_, .network(let sentence)) = event {
                #expect(!sentence.isEmpty)
                break
            }
        }
        try await paths.lab.near.ip(
            batch: "link set a0 up\nroute add default via 10.1.0.1 dev a0 metric 100")
        #expect(try await iterator.next()?.word == "reconnected")
        try await sender.value
        #expect(try await iterator.next()?.word == "late")
        await socket.close()
    }

    @Test("API-363 A WebSocket that is made without a network waits for it, or fails where it must not")
    func held() async throws {
        let network = ScriptedNetwork(.unreachable)
        var queue = RequestQueue.Settings()
        queue.follows = .provider(network)
        queue.settleTime = .zero
        let lab = try await SocketLab(queue: queue)
        let events = lab.manager.events
        let socket = try lab.manager.webSocket(lab.address("/echo", host: "device.test"))
        for await event in events { if case .held(_, .network) = event { break } }
        #expect(socket.waitingReason == .network("eth0: no carrier"))
        var options = TaskOptions()
        options.waitsForNetwork = false
        let hasty = try lab.manager.webSocket(
            lab.address("/echo", host: "device.test"), options: WebSocketOptions(reconnects: .whenPathIsBack),
            taskOptions: options)
        #expect(await hasty.refusal()?.code == .notConnectedToInternet)
        network.become(.wired)
        try await socket.opened()
        // Where another provider is followed, its loss ends the connection.
        network.become(.unreachable)
        #expect(await socket.everything().error?.code == .networkConnectionLost)
    }

    @Test("API-364 A server that is gone for a while is tried again with pauses; a refusal is the end")
    func restarts() async throws {
        let lab = try await SocketLab()
        let quick = WebSocketReconnection(
            firstDelay: .milliseconds(10), longestDelay: .milliseconds(40), attempts: nil)
        let options = WebSocketOptions(reconnects: quick)
        let flaky = try lab.socket("/flaky?failures=4", options: options)
        try await flaky.send("a")
        #expect(try await flaky.receive() == .text("a"))
        await flaky.close()
        let restarted = try lab.socket("/restart", options: options)
        var iterator = restarted.events.makeAsyncIterator()
        for turn in 0..<3 {
            #expect(try await iterator.next()?.word == (turn == 0 ? "opened" : "reconnected"))
            try await restarted.send("x")
            guard case .interrupted(let error, unsent: 0)? = try await iterator.next() else {
                Issue.record("not interrupted")
                return
            }
            #expect(error.message.contains("1012"))
        }
        #expect(restarted.closeCode == .serviceRestart || restarted.isOpen)
        restarted.cancel()
        let limited = try lab.socket(
            "/flaky?failures=100",
            options: WebSocketOptions(
                reconnects: WebSocketReconnection(firstDelay: .zero, longestDelay: .zero, attempts: 2)))
        #expect(await limited.refusal()?.response?.statusCode == 503)
        #expect(
            try await lab.server.wait { _ in true }.count { $0.event == "request" && $0.path == "/flaky" }
                == 5 + 3)
        let refused = try lab.socket("/status?code=403", options: options)
        #expect(await refused.refusal()?.response?.statusCode == 403)
    }

    @Test("API-365 A server whose process ends is a loss, and closing ends the attempts")
    func vanished() async throws {
        let lab = try await SocketLab()
        let quick = WebSocketReconnection(
            firstDelay: .milliseconds(5), longestDelay: .milliseconds(5), attempts: nil)
        let socket = try lab.socket("/echo", options: WebSocketOptions(reconnects: quick))
        var iterator = socket.events.makeAsyncIterator()
        #expect(try await iterator.next()?.word == "opened")
        try await lab.server.stop()
        #expect(try await iterator.next()?.word == "interrupted")
        await socket.close()
        #expect(try await iterator.next() == nil)
        #expect(lab.manager.tasks.isEmpty)
    }

    @Test("API-366 It is bound to the interface that the session names")
    func interface() async throws {
        let paths = try await Paths { $0.interface = "b0" }
        let socket = try paths.socket()
        try await socket.send("a")
        #expect(try await socket.receive() == .text("a"))
        #expect(try await paths.server.requests(1)[0].peer == "10.2.0.2")
        // The other cable does not concern it.
        try await paths.lab.near.ip("link set a0 down")
        try await socket.send("b")
        #expect(try await socket.receive() == .text("b"))
        await socket.close()
    }
}

extension WebSocketEvent {
    /// What it is, or its text.
    var word: String {
        switch self {
        case .opened: "opened"
        case .message(.text(let text)): text
        case .message(.data): "data"
        case .interrupted: "interrupted"
        case .reconnected: "reconnected"
        }
    }
}
