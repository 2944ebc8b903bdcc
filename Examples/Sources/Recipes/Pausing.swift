// SPDX-License-Identifier: Apache-2.0
// Requests that wait for the network.

import FoundationEssentials
import SessionManager

struct Sample: Encodable {
    var takenAt: Date
    var celsius: Double
}

/// A request that leaves when there is a network.
func sendSamples(_ samples: [Sample]) async throws {
    let api = try HTTPSessionManager(baseURL: "https://api.example.com")
    let task = try api.dataTask(.post, "samples", json: samples)
    task.resume()  // now, or when there is a network
    for await event in api.events {
        if case .held(_, let reason) = event { print(reason) }  // waiting for network (eth0: no carrier)
        if case .released = event { print("goes on") }
    }
}

/// One after the other, and not over the modem.
func sendTelemetry(_ samples: [Sample]) async throws {
    let api = try HTTPSessionManager(baseURL: "https://api.example.com/v1")
    api.queue.maximumActiveRequests = 4

    let options = TaskOptions {
        $0.lane = "telemetry"  // one after the other
        $0.networkCondition = .notExpensive  // not over the modem
    }
    let task = try api.dataTask(.post, "samples", json: samples, options: options)
    task.resume()

    for await event in api.events {
        if case .held(let task, let reason) = event { print(task.identifier, reason) }
    }
    // 7 waiting for network (eth0: no carrier)
}
