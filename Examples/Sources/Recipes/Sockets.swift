// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionManager
import WebSockets

/// The code of the article about WebSockets.
enum Sockets {
    static func talk(_ api: HTTPSessionManager) async throws {
        let socket = try api.webSocket("live", protocols: ["v1.telemetry"])
        try await socket.send("subscribe temperature")
        for try await message in socket.messages {
            guard case .text(let line) = message else { continue }
            print(line)
            if line == "done" { break }
        }
        await socket.close()
    }

    static func outlive(_ api: HTTPSessionManager) async throws {
        let socket = try api.webSocket("live", options: WebSocketOptions(reconnects: .whenPathIsBack))
        for try await event in socket.events {
            switch event {
            case .opened, .reconnected: try await socket.send("subscribe temperature")
            case .message(let message): print(message)
            case .interrupted(let error, let unsent): print("\(error.message); \(unsent) not sent")
            }
        }
    }

    static func settings(_ api: HTTPSessionManager) async throws -> Duration {
        var onlyHere = TaskOptions()
        onlyHere.networkCondition = .wiredOnly
        onlyHere.credential = .password(user: "device", password: "secret")
        let socket = try api.webSocket(
            "live", headers: ["Origin": "https://device.example.com"],
            options: WebSocketOptions(keepAlive: .seconds(120), maximumMessageSize: 64 << 10),
            taskOptions: onlyHere)
        return try await socket.ping()
    }
}
