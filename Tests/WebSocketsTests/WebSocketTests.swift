// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import SessionManager
import TestSupport
import Testing
import WebSockets

@Suite(
    "WebSockets", .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"),
    .timeLimit(.minutes(10)))
struct WebSocketTests {
    @Test("API-062 options of WebSockets are written in the form of all settings")
    func configurable() {
        let options = WebSocketOptions { $0.pongTimeout = .seconds(3) }
        #expect(options == WebSocketOptions(pongTimeout: .seconds(3)))
    }

    @Test("API-340 Messages of both kinds go there and back, with TLS and without", arguments: [false, true])
    func echo(isSecure: Bool) async throws {
        let lab = try await SocketLab(isSecure: isSecure)
        let socket = try lab.socket("/echo")
        try await socket.send("Grüße")
        try await socket.send(Data([0, 1, 255]))
        #expect(try await socket.receive() == .text("Grüße"))
        #expect(try await socket.receive() == .data(Data([0, 1, 255])))
        #expect(socket.isOpen)
        #expect(try await socket.ping() > .zero)
        await socket.close(reason: "done")
        #expect(!socket.isOpen)
        #expect(socket.closeCode == .normal && socket.closeReason == "done")
        let (rest, error) = await socket.everything()
        #expect(rest.isEmpty && error == nil)
        let close = try await lab.server.frames(8).first
        #expect(close?.content == "03e8" + "646f6e65")
        // Each frame has a key of its own.
        let keys = try await lab.server.frames(1) + lab.server.frames(2) + lab.server.frames(9)
        #expect(Set(keys.map(\.key)).count == 3)
    }

    @Test("API-341 Long messages arrive whole, in frames of the size that is set", arguments: [false, true])
    func long(isSecure: Bool) async throws {
        let lab = try await SocketLab(isSecure: isSecure)
        var options = WebSocketOptions()
        options.maximumMessageSize = 8 << 20
        options.fragmentSize = 100_000
        let socket = try lab.socket("/echo", options: options)
        let content = Data((0..<3_000_001).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) })
        try await socket.send(content)
        let answer = try await socket.receive()
        #expect(answer == .data(content))
        #expect(try await lab.server.frames(0, 30).allSatisfy { ($0.size ?? 0) <= 100_000 })
        await socket.close()
    }

    @Test("API-342 The events say when it is open; the subprotocol is the server's choice")
    func events() async throws {
        let lab = try await SocketLab()
        let socket = try lab.socket("/echo?protocol=v1", protocols: ["v2", "v1"])
        let response = try await socket.opened()
        #expect(response.statusCode == 101 && socket.negotiatedProtocol == "v1")
        #expect(socket.response == response)
        try await socket.send("a")
        var iterator = socket.events.makeAsyncIterator()
        guard case .opened(response)? = try await iterator.next() else {
            Issue.record("not open first")
            return
        }
        guard case .message(.text("a"))? = try await iterator.next() else {
            Issue.record("no message")
            return
        }
        await socket.close()
        #expect(try await iterator.next() == nil)
        let fields = try await lab.server.requests(1)[0].fields
        #expect(fields?["sec-websocket-protocol"] == "v2, v1")
        #expect(fields?["host"] == "127.0.0.1:\(lab.server.port)")
    }

    @Test(
        "API-343 What a server must not send ends it, with the code that says so",
        arguments: [
            ([0xC1, 0], "03ea", SessionError.Code.badServerResponse),
            ([0x83, 0], "03ea", .badServerResponse),
            ([0x81, 0x81, 1, 2, 3, 4, 5], "03ea", .badServerResponse),
            ([0x80, 0], "03ea", .badServerResponse), ([0x88, 1, 3], "03ea", .badServerResponse),
            ([0x81, 1, 0xFF], "03ef", .badServerResponse),
            ([0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0], "03f1", .dataLengthExceedsMaximum),
        ] as [([UInt8], String, SessionError.Code)])
    func violations(bytes: [UInt8], code: String, error: SessionError.Code) async throws {
        let lab = try await SocketLab()
        let socket = try lab.socket(sending: [0x81, 1, 0x41] + bytes)
        let end = await socket.everything()
        #expect(end.messages == [.text("A")])
        #expect(end.error?.code == error)
        #expect(try await lab.server.frames(8)[0].content?.hasPrefix(code) == true)
    }

    @Test("API-344 Pings are answered, fragments put together, also where all comes in one packet")
    func fragments() async throws {
        let lab = try await SocketLab()
        let socket = try lab.socket(
            sending: [0x01, 2, 0x48, 0x65, 0x89, 1, 7, 0x80, 1, 0x79, 0x88, 5, 0x0F, 0xA0, 0x62, 0x79, 0x65])
        let end = await socket.everything()
        #expect(end.messages == [.text("Hey")])
        #expect(end.error?.code == .networkConnectionLost)
        #expect(end.error?.message.contains("4000") == true && end.error?.message.contains("bye") == true)
        #expect(socket.closeCode?.rawValue == 4000 && socket.closeReason == "bye")
        #expect(try await lab.server.frames(10)[0].content == "07")
        #expect(try await lab.server.frames(8)[0].content == "0fa0")
    }

    @Test(
        "API-345 A connection that ends without a close frame is an error", arguments: ["&end=1", "&reset=1"])
    func cutOff(query: String) async throws {
        let lab = try await SocketLab()
        let socket = try lab.socket(sending: [0x81, 1, 0x41], query)
        let end = await socket.everything()
        #expect(end.error?.code == .networkConnectionLost)
        await #expect(throws: SessionError.self) { try await socket.send("x") }
        await #expect(throws: SessionError.self) { try await socket.ping() }
        await #expect(throws: SessionError.self) { try await socket.receive() }
    }

    @Test("API-350 A program that does not read holds the server up, and loses nothing")
    func backPressureIn() async throws {
        let lab = try await SocketLab()
        let socket = try lab.socket("/flood?count=30000")
        try await socket.opened()
        // Buffers of the kernel on both sides, and 256 KiB here: far less than the 30 MB.
        let stuck = try await lab.server.wait { $0.contains { $0.event == "stuck" } }
        #expect(stuck.first { $0.event == "stuck" }?.bytes ?? .max < 20_000_000)
        let content = Data((0..<4).flatMap { _ in (0..<250).map { UInt8($0) } })
        for _ in 0..<30000 {
            let message = try await socket.receive()
            if message != .data(content) { Issue.record("another message") }
        }
        await socket.close()
    }

    @Test("API-351 A server that does not read holds the program up, and loses nothing")
    func backPressureOut() async throws {
        let lab = try await SocketLab()
        var options = WebSocketOptions()
        options.sendBufferSize = 10_000
        // A machine that is busy may need long for 20 MB.
        options.keepAlive = .seconds(3600)
        let socket = try lab.socket("/deaf", options: options)
        let sent = EventLog<Int>()
        let sender = Task {
            for number in 0..<20000 {
                try await socket.send(Data(repeating: UInt8(truncatingIfNeeded: number), count: 1000))
                sent.append(number)
            }
        }
        // What the kernel takes is below the 20 MB, so the sender stands still somewhere, of which no event
        // tells.
        var before = -1
        while sent.elements.count != before || before <= 0 {
            before = sent.elements.count
            try await Task.sleep(for: .milliseconds(500))
        }
        #expect(before < 20000)
        let waiting = Task { try await socket.send("cancelled") }
        waiting.cancel()
        #expect(await waiting.result.failureCode == .cancelled)
        lab.server.release()
        try await sender.value
        await socket.close()
        let end = try await lab.server.wait { $0.contains { ($0.first ?? 0) & 15 == 8 } }
        #expect(end.filter { $0.event == "frame" && $0.first == 0x82 }.count == 20000)
    }

    @Test("API-352 A server that answers nothing is found by a ping, and by the limit of closing")
    func silence() async throws {
        let lab = try await SocketLab()
        let options = WebSocketOptions(
            keepAlive: .milliseconds(50), pongTimeout: .milliseconds(50), closeTimeout: .milliseconds(50))
        let silent = try lab.socket("/silent", options: options)
        let error = await silent.everything().error
        #expect(error?.code == .timedOut && error?.message.contains("ping") == true)
        let deaf = try lab.socket(
            "/silent", options: WebSocketOptions(keepAlive: nil, closeTimeout: .milliseconds(50)))
        try await deaf.opened()
        await deaf.close()
        #expect(await deaf.everything().error == nil)
        #expect(deaf.closeCode == nil)
        let pinged = try lab.socket("/echo", options: WebSocketOptions(keepAlive: .milliseconds(50)))
        try await pinged.opened()
        _ = try await lab.server.wait { $0.count { $0.path == "/echo" && ($0.first ?? 0) & 15 == 9 } >= 3 }
        #expect(pinged.isOpen)
    }

    @Test("API-353 A WebSocket that is released, cancelled or closed early leaves nothing behind")
    func endings() async throws {
        let lab = try await SocketLab()
        do {
            let released = try lab.socket("/echo")
            try await released.opened()
        }
        try await lab.server.wait { $0.contains { $0.event == "end" } }
        let cancelled = try lab.socket("/echo")
        try await cancelled.opened()
        cancelled.cancel()
        #expect(await cancelled.everything().error?.code == .cancelled)
        let early = try lab.socket("/echo")
        await early.close()
        #expect(await early.everything().error == nil)
        #expect(lab.manager.tasks.isEmpty)
        let socket = try lab.socket("/echo")
        try await socket.opened()
        lab.manager.invalidate()
        #expect(await socket.everything().error?.code == .cancelled)
        #expect(throws: SessionError.self) { try lab.socket("/echo") }
    }

    @Test(
        "API-354 An open WebSocket takes no place among the requests: not of its host, its lane or its queue")
    func detached() async throws {
        let lab = try await SocketLab({ $0.maximumConnectionsPerHost = 1 })
        lab.manager.queue.maximumActiveRequests = 1
        var options = TaskOptions()
        options.lane = "one"
        let sockets = try (0..<3).map { _ in try lab.socket("/echo", taskOptions: options) }
        for socket in sockets { try await socket.opened() }
        let request = try SessionRequest("http://127.0.0.1:\(lab.server.port)/status?code=200")
        #expect(try await lab.manager.data(for: request, options: options).1.statusCode == 200)
        #expect(lab.manager.queue.counts.detached == 3)
        #expect(lab.manager.queue.counts.active == 0)
        for socket in sockets {
            try await socket.send("a")
            #expect(try await socket.receive() == .text("a"))
            await socket.close()
        }
        #expect(lab.manager.queue.counts.total == 0)
    }

    @Test("API-355 A queue that is paused stops the bytes of an open WebSocket")
    func paused() async throws {
        let lab = try await SocketLab()
        let socket = try lab.socket("/echo")
        try await socket.opened()
        let other = try lab.socket("/echo", on: lab.another())
        try await other.opened()
        lab.manager.queue.pause()
        try await socket.send("a")
        // Both are of one thread: what had been sent would be there before what it does later.
        for _ in 0..<20 { _ = try await other.ping() }
        try await other.send("b")
        #expect(try await lab.server.frames(1)[0].content == "62")
        lab.manager.queue.resume()
        #expect(try await socket.receive() == .text("a"))
        await socket.close()
    }

    @Test("API-357 A hundred WebSockets at once echo, and close")
    func many() async throws {
        let lab = try await SocketLab()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                let socket = try lab.socket("/echo")
                group.addTask {
                    for turn in 0..<5 {
                        try await socket.send("\(number) \(turn)")
                        guard try await socket.receive() == .text("\(number) \(turn)") else {
                            throw LabError("another socket's message")
                        }
                    }
                    await socket.close()
                }
            }
            try await group.waitForAll()
        }
        #expect(lab.manager.tasks.isEmpty)
    }
}

extension SocketLab {
    func refusal(of path: String) async -> SessionError? { await (try? socket(path))?.refusal() }
}

extension Result {
    var failureCode: SessionError.Code? {
        if case .failure(let error) = self { (error as? SessionError)?.code } else { nil }
    }
}
