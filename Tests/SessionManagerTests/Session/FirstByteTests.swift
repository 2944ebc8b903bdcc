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
        lab.trustOrigin()
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

    /// Long, since the server may be slow while all tests run at once; what must not count lasts longer.
    private static let limit = Duration.seconds(12)
    private static let longer = limit + .milliseconds(600)

    @Test("the time that a body takes does not count")
    func bodies() async throws {
        let lab = try await lab()
        let pace: Int64 = 10_000
        let body = Data(repeating: 1, count: Int(Self.longer / .milliseconds(1)) * Int(pace) / 1000)
        var request = try lab.request("/upload", .post, body: .data(body))
        request.options.timeouts.firstByte = Self.limit
        request.options.maximumBytesPerSecond = pace
        #expect(try await lab.run(request).response?.statusCode == 200)
    }

    @Test("what comes after the answer has begun does not count")
    func content() async throws {
        let lab = try await lab()
        var request = try lab.request("/drip?n=2&size=10&gate=first-drip")
        request.options.timeouts.firstByte = Self.limit
        let (response, content) = try await lab.manager.stream(for: request)
        #expect(response.statusCode == 200)
        // Time is what is tested: the content must come later than the limit.
        try await Task.sleep(for: Self.longer)
        try await lab.origin.release("first-drip")
        var count = 0
        for try await chunk in content { count += chunk.count }
        #expect(count == 20)
    }

    @Test("while the task is suspended nothing counts")
    func suspended() async throws {
        let lab = try await lab()
        for round in 1... {
            let gate = "first-suspended-\(round)"
            let task = try lab.manager.dataTask(with: request(lab, limit: Self.limit, gate: gate))
            let begin = ContinuousClock.now
            task.resume()
            _ = try await lab.origin.wait(for: gate, [.count: 1])
            task.suspend()
            let pause = ContinuousClock.now
            // Time is what is tested: the pause must last longer than the limit.
            try await Task.sleep(for: Self.longer)
            try await lab.origin.release(gate)
            let end = ContinuousClock.now
            task.resume()
            let status = await task.outcome().response?.statusCode
            // Where a busy machine takes as long as the limit before or after the pause, it proves nothing.
            let isSlow = max(pause - begin, ContinuousClock.now - end) > Self.limit / 2
            guard isSlow, status != 200 else { return #expect(status == 200) }
        }
    }
}
