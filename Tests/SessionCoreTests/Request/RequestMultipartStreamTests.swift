// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import TestSupport
import Testing

struct RequestMultipartStreamTests {
    private func form(_ source: any BodySource, length: Int64? = nil) throws -> MultipartFormData {
        var form = MultipartFormData(boundary: RequestMultipartTests.boundary)
        try form.append(source, length: length, name: "s", fileName: "s.bin", mimeType: "a/b")
        return form
    }

    @Test("a source of unknown length makes the whole body one, and is read as it comes")
    func live() throws {
        let source = LiveSource(Array("ab".utf8))
        let form = try form(source)
        #expect(form.length == nil && !form.makeBody().isRewindable)
        let reader = try form.makeBody().makeReader()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1000, alignment: 1)
        defer { buffer.deallocate() }
        guard case .bytes(let head) = try reader.read(into: buffer) else {
            Issue.record("nothing")
            return
        }
        #expect(buffer[..<head].suffix(6).elementsEqual("\r\n\r\nab".utf8))
        #expect(try reader.read(into: buffer) == .notYet)
        let counter = CallCounter()
        reader.whenReadable { counter.call() }
        #expect(counter.count == 0)
        source.give(Array("c".utf8), isComplete: true)
        #expect(counter.count == 1)
        let rest = String(decoding: try readAll(reader), as: UTF8.self)
        #expect(rest == "c\r\n\(RequestMultipartTests.line)--\r\n")
    }

    @Test("a source that cannot be read again is told of before the first byte")
    func usedTwice() throws {
        let form = try form(LiveSource([1], isComplete: true), length: 1)
        let body = form.makeBody()
        #expect(Int64(try readAll(body).count) == body.length)
        #expect(sessionError { _ = try body.makeReader() }?.code == .requestBodyStreamExhausted)
    }

    @Test("a source with fewer or more bytes than declared fails the body", arguments: [2, 4] as [Int64])
    func wrongLength(_ declared: Int64) throws {
        // One that has too many is reported before it comes to an end.
        let form = try form(LiveSource([1, 2, 3], isComplete: declared > 3), length: declared)
        let error = sessionError { _ = try readAll(form.makeBody()) }
        #expect(error?.code == .requestBodyStreamExhausted)
    }

    @Test("AF-084 a throttled body is read in small pieces, with a pause after each")
    func throttle() throws {
        let scheduler = ManualScheduler()
        var form = MultipartFormData()
        try form.append(Data(repeatElement(1, count: 10 << 10)), name: "d")
        let whole = try readAll(form.makeBody())
        form.throttle = BodyThrottle(maximumBytesPerRead: 1024, delay: .milliseconds(50))
        form.scheduler = scheduler
        let body = form.makeBody()
        #expect(body.length == Int64(whole.count) && body.isRewindable)
        let reader = try body.makeReader()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 1)
        defer { buffer.deallocate() }
        let counter = CallCounter()
        var bytes: [UInt8] = []
        var paused = Duration.zero
        reading: while true {
            switch try reader.read(into: buffer) {
            case .bytes(let count):
                #expect(count <= 1024)
                bytes += buffer[..<count]
            case .notYet:
                let calls = counter.count
                reader.whenReadable { counter.call() }
                #expect(counter.count == calls && scheduler.pending == [.milliseconds(50)])
                paused += .milliseconds(50)
                scheduler.pass()
                #expect(counter.count == calls + 1)
            case .end: break reading
            }
        }
        #expect(bytes == whole)
        #expect(paused >= .milliseconds(450))
    }

    @Test("a pause that ends before a caller asks to be called is not missed")
    func pauseEndsEarly() throws {
        let scheduler = ManualScheduler()
        let body = ThrottledBody(
            DataBody(Data([1, 2])), BodyThrottle(maximumBytesPerRead: 1, delay: .seconds(1)),
            scheduler: scheduler)
        let reader = try body.makeReader()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 1)
        defer { buffer.deallocate() }
        #expect(try reader.read(into: buffer) == .bytes(1))
        #expect(try reader.read(into: buffer) == .notYet)
        scheduler.pass()
        let counter = CallCounter()
        reader.whenReadable { counter.call() }
        #expect(counter.count == 1)
        #expect(try reader.read(into: buffer) == .bytes(1))
        scheduler.pass()
        #expect(counter.count == 1)
        #expect(try reader.read(into: buffer) == .end)
    }

    @Test("a throttled source that has nothing calls by itself, and a pause does not listen to it")
    func throttledLive() throws {
        let scheduler = ManualScheduler()
        let source = LiveSource([1])
        let body = ThrottledBody(
            source, BodyThrottle(maximumBytesPerRead: 8, delay: .seconds(1)), scheduler: scheduler)
        let reader = try body.makeReader()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 1)
        defer { buffer.deallocate() }
        #expect(try reader.read(into: buffer) == .bytes(1))
        #expect(try reader.read(into: buffer) == .notYet)
        let paused = CallCounter()
        reader.whenReadable { paused.call() }
        source.give([])
        #expect(paused.count == 0)
        scheduler.pass()
        #expect(paused.count == 1)
        #expect(try reader.read(into: buffer) == .notYet)
        let waiting = CallCounter()
        reader.whenReadable { waiting.call() }
        source.give([2], isComplete: true)
        #expect(waiting.count == 1)
        #expect(try reader.read(into: buffer) == .bytes(1))
    }

    @Test("AF-085 the suggested throttle")
    func suggested() {
        #expect(BodyThrottle.suggested3G.maximumBytesPerRead == 16384)
        #expect(BodyThrottle.suggested3G.delay == .milliseconds(200))
        #expect(BodyThrottle(maximumBytesPerRead: 0, delay: .zero).maximumBytesPerRead == 1)
    }

    @Test("the clock that comes with it calls, and not at once")
    func clock() async {
        let start = ContinuousClock.now
        await withCheckedContinuation { continuation in
            TaskBodyScheduler().schedule(after: .milliseconds(20)) { continuation.resume() }
        }
        #expect(ContinuousClock.now - start >= .milliseconds(20))
    }
}
