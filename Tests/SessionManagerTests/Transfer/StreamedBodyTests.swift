// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import Synchronization
import TestSupport
import Testing

struct StreamedBodyTests {
    @Test("a body of unknown length is sent chunked and arrives as it was made")
    func chunked() async throws {
        let lab = try await Lab()
        let whole = Data(OriginContent.bytes(0..<1_000_000))
        let plain = try await lab.run(lab.request("/upload", .put, at: .direct, body: .data(whole)))
        let body = StreamedBody(Pieces(count: 1000, size: 1000))
        let end = try await lab.run(lab.request("/upload", .put, at: .direct, body: .stream(body)))
        #expect(end.json?["chunked"] == true)
        #expect(end.json?["contentLength"] == .null)
        #expect(end.json?["count"] == 1_000_000)
        #expect(end.json?["sha256"] == plain.json?["sha256"])
    }

    @Test("a body of known length is not chunked, and one that has another length ends the task")
    func length() async throws {
        let lab = try await Lab()
        let body = StreamedBody(Pieces(count: 10, size: 1000), length: 10_000)
        let end = try await lab.run(lab.request("/upload", .put, at: .direct, body: .stream(body)))
        #expect(end.json?["chunked"] == false)
        #expect(end.json?["count"] == 10_000)
        let short = StreamedBody(Pieces(count: 9, size: 1000), length: 10_000)
        let failed = try await lab.run(
            lab.request("/upload?key=short-stream", .put, at: .direct, body: .stream(short)))
        #expect(failed.error?.code == .requestBodyStreamExhausted)
        try await lab.origin.wait(for: "short-stream", [.aborted: 1])
    }

    /// Ten bytes at a time, and then nothing yet, or the end.
    private struct Tens: BodySource {
        let count: Int
        let hasEnd: Bool
        var length: Int64? { 40 }
        var isRewindable: Bool { true }

        func makeReader() -> any BodyReader { Reader(self) }

        final class Reader: BodyReader {
            private let tens: Tens
            private var made = 0
            init(_ tens: Tens) { self.tens = tens }
            func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
                guard made < tens.count else { return tens.hasEnd ? .end : .notYet }
                made += 1
                buffer[..<10].copyBytes(from: repeatElement(65, count: 10))
                return .bytes(10)
            }
        }
    }

    @Test("UPL-546 a source with more bytes than it announced fails the upload; its end is not waited for")
    func longer() async throws {
        let lab = try await Lab()
        let long = try await lab.run(
            lab.request(
                "/upload?key=long-stream", .put, at: .direct, body: .stream(Tens(count: 5, hasEnd: true))))
        #expect(long.error?.code == .requestBodyStreamExhausted)
        #expect(long.error?.message == "the body has more than the 40 bytes that it announced")
        try await lab.origin.wait(for: "long-stream", [.aborted: 1])
        for hasEnd in [true, false] {
            let body = RequestBody.stream(Tens(count: 4, hasEnd: hasEnd))
            let end = try await lab.run(lab.request("/upload", .put, at: .direct, body: body))
            #expect(end.json?["count"] == 40)
        }
    }

    @Test("the sequence is not asked for more while what it has made is not sent")
    func backPressure() async throws {
        let (count, size, bound) = (100, 16 << 10, 256 << 10)
        let pieces = Pieces(count: count, size: size)
        let reader = try #require(StreamedBody(pieces).makeReader() as? StreamedBodyReader)
        var taken: [UInt8] = []
        /// Waits until the sequence is held, has gone too far, or has ended.
        func settle() async {
            while !reader.holdsSequence, pieces.made <= taken.count + bound, pieces.made < count * size {
                await Task.yield()
            }
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 5000, alignment: 1)
        defer { buffer.deallocate() }
        reading: while true {
            await settle()
            try #require(pieces.made <= taken.count + bound + size)
            switch try reader.read(into: buffer) {
            case .bytes(let count): taken += buffer.prefix(count)
            case .end: break reading
            case .notYet:
                await withCheckedContinuation { continuation in
                    reader.whenReadable { continuation.resume() }
                }
            }
        }
        let isWhole = taken == OriginContent.bytes(0..<(count * size))
        #expect(isWhole)
    }

    @Test("cancelling in the middle ends the iteration, and the server gets no whole request")
    func cancel() async throws {
        let lab = try await Lab()
        let (chunks, source) = AsyncStream<Data>.makeStream()
        let ended = Box<Bool>()
        source.onTermination = { if case .cancelled = $0 { ended.put(true) } }
        let request = try lab.request(
            "/upload?key=cancelled-stream", .post, at: .direct, body: .stream(StreamedBody(chunks)))
        let task = try lab.manager.uploadTask(withStreamedRequest: request)
        task.resume()
        source.yield(Data("begun".utf8))
        try await lab.origin.wait(for: "cancelled-stream", [.received: 5])
        task.cancel()
        #expect(await task.outcome().error?.code == .cancelled)
        #expect(await ended.value)
        try await lab.origin.wait(for: "cancelled-stream", [.aborted: 1])
    }

    @Test("what the sequence throws ends the task")
    func failure() async throws {
        struct Broken: Error {}
        let lab = try await Lab()
        for error: any Error in [Broken(), SessionError(.cannotOpenFile, "mine")] {
            let own = (error as? SessionError)?.code
            let key = "failed-stream-\(own == nil)"
            let (chunks, source) = AsyncThrowingStream<Data, any Error>.makeStream()
            let request = try lab.request(
                "/upload?key=\(key)", .post, at: .direct, body: .stream(StreamedBody(chunks)))
            let task = try lab.manager.uploadTask(withStreamedRequest: request)
            task.resume()
            source.yield(Data("begun".utf8))
            try await lab.origin.wait(for: key, [.received: 5])
            source.finish(throwing: error)
            let got = await task.outcome().error
            #expect(got?.code == own ?? .requestBodyStreamExhausted)
            #expect(own != nil || got?.underlying is Broken)
            try await lab.origin.wait(for: key, [.aborted: 1])
        }
    }

    @Test("only a body that can make its sequence again is sent twice")
    func twice() async throws {
        let lab = try await Lab()
        let path = "/redirect-to?code=307&read=1&url=\(lab.origin.url("/upload"))"
        let again = StreamedBody { Pieces(count: 10, size: 10) }
        #expect(
            try await lab.run(lab.request(path, .post, body: .stream(again))).json?["count"] == 100)
        let once = StreamedBody(Pieces(count: 10, size: 10))
        #expect(
            try await lab.run(lab.request(path, .post, body: .stream(once))).error?.code
                == .requestBodyStreamExhausted)
        #expect { try once.makeReader() } throws: {
            ($0 as? SessionError)?.code == .requestBodyStreamExhausted
        }
    }
}

/// The origin's bytes in pieces, made when they are asked for.
private struct Pieces: AsyncSequence, Sendable {
    let count: Int
    let size: Int
    private let counter = Counter()

    var made: Int { counter.value.load(ordering: .acquiring) }

    init(count: Int, size: Int) {
        self.count = count
        self.size = size
    }

    struct Iterator: AsyncIteratorProtocol {
        let pieces: Pieces
        var index = 0

        mutating func next() async -> Data? {
            guard index < pieces.count else { return nil }
            defer { index += 1 }
            let start = index * pieces.size
            pieces.counter.value.add(pieces.size, ordering: .acquiringAndReleasing)
            return Data(OriginContent.bytes(start..<(start + pieces.size)))
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(pieces: self) }

    private final class Counter: Sendable {
        let value = Atomic<Int>(0)
    }
}
