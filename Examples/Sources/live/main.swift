// SPDX-License-Identifier: Apache-2.0

// Live values of a device over a WebSocket that outlives its cables: each line of standard input is sent,
// each answer is printed. It ends with the input. live URL <lines

import Glibc
import WebSockets

guard CommandLine.arguments.count == 2 else {
    print("usage: live URL <lines")
    exit(64)
}
ReachabilityManager.shared.startMonitoring()
let manager = URLSessionManager()
let socket = try manager.webSocket(
    CommandLine.arguments[1], protocols: ["live.v1"], options: WebSocketOptions(reconnects: .whenPathIsBack))

// Beside the main thread, which waits for lines.
let reading = Task.detached { [socket] in
    for try await event in socket.events {
        switch event {
        case .opened, .reconnected: try await socket.send("subscribe")  // the server knows nothing of before
        case .message(.text(let text)): print("got: \(text)")
        case .message(.data(let data)): print("got \(data.count) bytes")
        case .interrupted(let error, let unsent): print("lost (\(unsent) unsent): \(error.message)")
        }
    }
}
while let line = readLine() { try await socket.send(line) }
await socket.close()
_ = await reading.result
