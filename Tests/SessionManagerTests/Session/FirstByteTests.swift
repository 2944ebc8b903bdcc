// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

struct FirstByteTests {
    /// A request that is answered when its gate opens.
    private func request(
        _ lab: Lab, _ method: HTTPRequest.Method = .get, _ body: RequestBody? = nil, limit: Duration,
        gate: String, at listener: OriginListener = .http
    ) throws -> SessionRequest {
        var request = try lab.request("/hold/\(gate)?key=\(gate)", method, at: listener, body: body)
        request.options.timeouts.firstByte = limit
        return request
    }

    private func lab() async throws -> Lab {
        let lab = try await Lab()
        var policy = SecurityPolicy.default
        policy.trustRoots = .only(.file(lab.origin.pem(.root)))
        lab.manager.securityPolicy = policy
        return lab
    }

    @Test(
        "a server that does not begin to answer is given up, with and without a body, on a used connection too",
        arguments: [OriginListener.http, .https, .h2])
    func silence(_ listener: OriginListener) async throws {
        let lab = try await lab()
        for body in [nil, RequestBody.data(Data(repeating: 1, count: 100_000))] {
            let gate = "first-\(listener)-\(body == nil)"
            let end = try await lab.run(
                request(
                    lab, body == nil ? .get : .post, body, limit: .milliseconds(200), gate: gate, at: listener
                ))
            #expect(end.error?.code == .timedOut)
            #expect(end.error?.message.contains("has not begun to answer") == true)
            try await lab.origin.release(gate)
            #expect(try await lab.run(lab.request("/get", at: listener)).error == nil)
        }
    }

    @Test("the time that a body takes does not count, nor what comes after the answer has begun")
    func counted() async throws {
        let lab = try await lab()
        var slow = try lab.request("/upload", .post, body: .data(Data(repeating: 1, count: 200_000)))
        slow.options.timeouts.firstByte = .seconds(3)
        slow.options.maximumBytesPerSecond = 50_000
        #expect(try await lab.run(slow).response?.statusCode == 200)

        var drip = try lab.request("/drip?n=2&size=10&gate=first-drip")
        drip.options.timeouts.firstByte = .seconds(3)
        let (response, content) = try await lab.manager.stream(for: drip)
        #expect(response.statusCode == 200)
        // Longer than the limit.
        try await Task.sleep(for: .milliseconds(3300))
        try await lab.origin.release("first-drip")
        var count = 0
        for try await chunk in content { count += chunk.count }
        #expect(count == 20)
    }

    @Test("while the task is suspended nothing counts")
    func suspended() async throws {
        let lab = try await lab()
        let task = try lab.manager.dataTask(
            with: request(lab, limit: .seconds(3), gate: "first-suspended"))
        task.resume()
        _ = try await lab.origin.wait(for: "first-suspended", [.count: 1])
        task.suspend()
        try await Task.sleep(for: .milliseconds(3300))
        try await lab.origin.release("first-suspended")
        task.resume()
        #expect(await task.outcome().response?.statusCode == 200)
    }
}
