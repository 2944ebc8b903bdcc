// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import SessionCore
import SessionManager
import TestSupport
import Testing
import WebSockets

/// The Python package `websockets`, a server from outside this project.
private enum StockServer {
    /// The folder in which `packaging/bootstrap --tests` installs it.
    static let folder: String = {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return "/\(root)/.build-python"
    }()

    static let isAvailable =
        NetworkLab.isAvailable && (access(folder + "/websockets", F_OK) == 0 || NetworkLab.isRequired)
}

@Suite(
    "WebSockets to another implementation", .enabled(if: StockServer.isAvailable), .timeLimit(.minutes(10)))
struct WebSocketPeerTests {
    @Test("API-370 A server of others takes every message and gives it back", arguments: [false, true])
    func echo(isSecure: Bool) async throws {
        let lab = try await SocketLab(isSecure: isSecure, real: StockServer.folder)
        let options = WebSocketOptions(
            keepAlive: .milliseconds(50), maximumMessageSize: 4 << 20, fragmentSize: 1000)
        let socket = try lab.socket("/echo", protocols: ["v3.test", "v1.test", "v2.test"], options: options)
        try await socket.opened()
        #expect(socket.negotiatedProtocol == "v2.test")
        for size in [0, 1, 125, 126, 999, 1000, 1001, 65535, 65536, 3_000_000] {
            let content = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) })
            try await socket.send(content)
            #expect(try await socket.receive() == .data(content))
        }
        let text = String(repeating: "κόσμε 🚲 ", count: 5000)
        try await socket.send(text)
        #expect(try await socket.receive() == .text(text))
        #expect(try await socket.ping() < .seconds(60))
        await socket.close(code: WebSocketCloseCode(rawValue: 4001), reason: "fertig")
        #expect(socket.closeCode?.rawValue == 4001)
        #expect(try await lab.server.wait { $0.contains { $0.event == "end" } }.last?.how == "4001")
    }

    @Test("API-371 A close by a server of others is understood")
    func closed() async throws {
        let lab = try await SocketLab(real: StockServer.folder)
        let socket = try lab.socket("/restart")
        try await socket.send("x")
        #expect(await socket.everything().error?.message.contains("1012") == true)
        #expect(socket.closeCode == .serviceRestart && socket.closeReason == "again")
        // What is no WebSocket to it gets an error of HTTP.
        let request = try SessionRequest("http://127.0.0.1:\(lab.server.port)/echo")
        #expect(try await lab.manager.data(for: request).1.statusCode == 426)
    }
}
