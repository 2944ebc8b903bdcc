// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ContentStreamTests {
    @Test("chunks are there when they have come, not when all have")
    func early() async throws {
        let lab = try await Lab()
        let (response, stream) = try await lab.manager.stream(
            for: lab.request("/drip?n=3&size=4&gate=stream-early", at: .direct))
        #expect(response.statusCode == 200)
        var chunks = stream.makeAsyncIterator()
        // The server sends the second piece only after the first has been read here.
        var all = try #require(try await chunks.next())
        #expect(all.count == 4)
        try await lab.origin.release("stream-early")
        while let chunk = try await chunks.next() {
            #expect(!chunk.isEmpty)
            all += chunk
        }
        #expect(Array(all) == OriginContent.bytes(0..<12))
        #expect(try await chunks.next() == nil)
    }

    @Test("while the content is not read the server is held up; other transfers are not")
    func backPressure() async throws {
        let lab = try await Lab()
        let total = 32 << 20
        let (_, stream) = try await lab.manager.stream(
            for: lab.request("/bytes/\(total)?key=stream-held", at: .direct))
        // As much and more goes over another connection meanwhile: this one would be at its end, were it not
        // held up.
        for _ in 0..<2 {
            let (other, _) = try await lab.manager.data(for: lab.request("/bytes/\(total)", at: .direct))
            #expect(other.count == total)
        }
        let sent = try await lab.origin.statistics("stream-held").sent
        #expect(sent < total * 3 / 4, "the kernel's buffers hold some MiB, no more")
        // It continues as soon as it is read.
        var received = 0
        for try await chunk in stream {
            received += chunk.count
            if received > sent { break }
        }
        #expect(received > sent)
    }

    @Test(
        "UPL-499 a reader that has read the content to its end finds the outcome: state, response and metrics"
    )
    func outcomeAtTheEnd() async throws {
        let lab = try await Lab()
        for _ in 0..<200 {
            let (_, stream) = try await lab.manager.stream(for: lab.request("/get"))
            for try await _ in stream {}
            #expect(stream.task.state == .completed)
            #expect(stream.task.metrics.last?.remote != nil)
        }
        let (_, cut) = try await lab.manager.stream(
            for: lab.request("/fault/cut?n=100000&after=50000&kind=close", at: .direct))
        await #expect(throws: SessionError.self) { for try await _ in cut {} }
        #expect(cut.task.error?.code == .networkConnectionLost)
    }

    @Test("letting go of a stream ends its transfer")
    func lettingGo() async throws {
        let lab = try await Lab()
        let task = try await { () async throws -> SessionTask in
            let (_, stream) = try await lab.manager.stream(
                for: lab.request("/bytes/268435456?key=stream-let-go", at: .direct))
            return stream.task
        }()
        #expect(await task.outcome().error?.code == .cancelled)
        try await lab.origin.wait(for: "stream-let-go", [.aborted: 1])
    }

    @Test("FLD-048 leaving the loop ends the transfer, though the stream is kept")
    func leaving() async throws {
        let lab = try await Lab()
        let (_, stream) = try await lab.manager.stream(
            for: lab.request("/bytes/268435456?key=fld048", at: .direct))
        for try await _ in stream { break }
        #expect(await stream.task.outcome().error?.code == .cancelled)
        try await lab.origin.wait(for: "fld048", [.aborted: 1])
        withExtendedLifetime(stream) {}
    }

    @Test(
        "an error in the middle comes after all that came before it, however late one reads",
        arguments: [false, true])
    func cut(_ isLate: Bool) async throws {
        let lab = try await Lab()
        let (_, stream) = try await lab.manager.stream(
            for: lab.request("/fault/cut?n=100000&after=50000&kind=close", at: .direct))
        if isLate { _ = await stream.task.outcome() }
        var all = Data()
        await #expect {
            for try await chunk in stream { all += chunk }
        } throws: {
            ($0 as? SessionError)?.code == .networkConnectionLost
        }
        #expect(Array(all) == OriginContent.bytes(0..<50_000))
    }

    @Test("UPL-542 of two tasks that read one stream the second gets an error, and the first all content")
    func twoReaders() async throws {
        let lab = try await Lab()
        let (_, stream) = try await lab.manager.stream(
            for: lab.request("/drip?n=3&size=4&gate=stream-two", at: .direct))
        var chunks = stream.makeAsyncIterator()
        let begun = try #require(try await chunks.next())
        try await withThrowingTaskGroup(of: Result<Data, SessionError>.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    var all = Data()
                    do throws(SessionError) {
                        var chunks = stream.makeAsyncIterator()
                        while let chunk = try await chunks.next() { all += chunk }
                        return .success(all)
                    } catch {
                        return .failure(error)
                    }
                }
            }
            // The server sends nothing yet, so neither reader ends but for the other.
            let refused = try #require(try await group.next())
            #expect(throws: SessionError.self) { try refused.get() }
            if case .failure(let error) = refused {
                #expect(error.code == .resourceUnavailable)
                #expect(error.message.contains("a stream has one reader"))
            }
            try await lab.origin.release("stream-two")
            let rest = try #require(try await group.next()).get()
            #expect(Array(begun + rest) == OriginContent.bytes(0..<12))
        }
    }
}
