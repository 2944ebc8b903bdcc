// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// A server that falls silent: `timeoutInterval`.
struct IdleTimeoutTests {
    /// From short to long: the server may be slow while all tests run at once, and then falls silent before
    /// it has begun.
    private static let intervals = (0..<7).map { Duration.milliseconds(500 << $0) }

    /// What there is of content that stalls after 30 000 bytes when the limit is over; always the error of
    /// that.
    private func stalled(_ lab: Lab, isStream: Bool, _ key: String, _ limit: Duration) async throws -> Int64 {
        var request = try SessionRequest(
            lab.origin.faultURL("/fault/stall?n=100000&after=30000&key=\(key)"))
        request.options.timeoutInterval = limit
        if isStream {
            var count: Int64 = 0
            await #expect {
                let (_, content) = try await lab.manager.stream(for: request)
                for try await chunk in content { count += Int64(chunk.count) }
            } throws: {
                ($0 as? SessionError)?.code == .timedOut
            }
            return count
        }
        let task = try lab.manager.dataTask(with: request)
        task.resume()
        let outcome = await task.outcome()
        #expect(outcome.error?.code == .timedOut)
        #expect(outcome.error?.message.contains("nothing came from the server") == true)
        let count = task.downloadProgress.completedBytes
        #expect(count == 0 || outcome.response?.statusCode == 200)
        return count
    }

    @Test("AF-160 a server that sends a part and then nothing more is given up", arguments: [true, false])
    func content(isStream: Bool) async throws {
        let lab = try await Lab()
        let key = "idle-content-\(isStream)"
        var counts: [Int64] = []
        for interval in Self.intervals where counts.last != 30_000 {
            counts.append(try await stalled(lab, isStream: isStream, key, interval))
        }
        #expect(counts.last == 30_000)
        // Its connection was closed.
        try await lab.origin.wait(for: key, [.aborted: 1])
    }

    @Test("AF-160 a server that takes a part of the body and then no more is given up")
    func body() async throws {
        let lab = try await Lab()
        let key = "idle-body"
        let size: Int64 = 64 << 20
        var sent: Int64 = 0
        for interval in Self.intervals where sent == 0 {
            var request = try SessionRequest(
                lab.origin.faultURL("/fault/cut-upload?after=1000&kind=stall&gate=\(key)&key=\(key)"),
                method: .put, body: .data(Data(count: Int(size))))
            request.options.timeoutInterval = interval
            let task = try lab.manager.dataTask(with: request)
            task.resume()
            #expect(await task.outcome().error?.code == .timedOut)
            sent = task.uploadProgress.completedBytes
        }
        #expect(sent > 0 && sent < size)
        try await lab.origin.release(key)
    }

    @Test("a server that goes on before the time is over is not given up, however long it takes in all")
    func slow() async throws {
        let lab = try await Lab()
        var error: SessionError?
        for interval in Self.intervals.dropFirst(2) {
            // Each piece comes long before the limit, the last ones after it.
            let pause = interval / .milliseconds(20)
            var request = try lab.request("/drip?n=23&size=1&ms=\(pause)")
            request.options.timeoutInterval = interval
            let task = try lab.manager.dataTask(with: request)
            task.resume()
            let outcome = await task.outcome()
            error = outcome.error
            if error == nil {
                #expect(outcome.data?.count == 23)
                break
            }
        }
        #expect(error == nil)
    }
}
