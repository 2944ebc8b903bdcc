// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

struct UploadFaultTests {
    enum Change: String, CaseIterable, Sendable { case shrinks, grows, vanishes }

    @Test(
        "AF-082 a file that changes between append and send ends the task; the server gets no whole request",
        arguments: Change.allCases)
    func file(_ change: Change) async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let path = folder("file")
        try Data(repeating: 1, count: 10_000).write(to: URL(filePath: path))
        let (chunks, source) = AsyncStream<Data>.makeStream()
        var form = MultipartFormData()
        try form.append(
            StreamedBody(chunks, length: 20), name: "first", fileName: "a", mimeType: "text/plain")
        try form.appendFile(path, name: "second")
        let key = "file-\(change)"
        let request = try HTTPRequestSerializer().serialize(
            lab.request("/upload?key=\(key)", .post, at: .direct), parameters: nil, form: form)
        let task = try lab.manager.uploadTask(withStreamedRequest: request)
        task.resume()
        source.yield(Data(repeating: 2, count: 10))
        // The head and the first part are on the wire: the length is promised.
        try await lab.origin.wait(for: key, [.received: 10])
        switch change {
        case .shrinks: try Data(repeating: 1, count: 9999).write(to: URL(filePath: path))
        case .grows: try Data(repeating: 1, count: 10_001).write(to: URL(filePath: path))
        case .vanishes: try FileManager.default.removeItem(atPath: path)
        }
        source.yield(Data(repeating: 2, count: 10))
        source.finish()
        let error = await task.outcome().error
        #expect(error?.code == (change == .vanishes ? .fileDoesNotExist : .requestBodyStreamExhausted))
        try await lab.origin.wait(for: key, [.aborted: 1])
        #expect(try await lab.origin.statistics(key).finished == 0)
    }

    @Test(
        "AF-082 a file that has changed before anything is sent is not sent at all",
        arguments: Change.allCases)
    func early(_ change: Change) async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let path = folder("file")
        try Data(repeating: 1, count: 100).write(to: URL(filePath: path))
        var form = MultipartFormData()
        try form.appendFile(path, name: "file")
        switch change {
        case .shrinks: try Data(repeating: 1, count: 99).write(to: URL(filePath: path))
        case .grows: try Data(repeating: 1, count: 101).write(to: URL(filePath: path))
        case .vanishes: try FileManager.default.removeItem(atPath: path)
        }
        let key = "early-\(change)"
        let request = try HTTPRequestSerializer().serialize(
            lab.request("/upload?key=\(key)", .post, at: .direct), parameters: nil, form: form)
        let end = try await lab.run(request)
        #expect(end.error?.code == (change == .vanishes ? .fileDoesNotExist : .requestBodyStreamExhausted))
        #expect(try await lab.origin.count(key) == 0)
    }

    @Test("AF-084 a throttled form takes its time, and arrives whole")
    func throttle() async throws {
        let lab = try await Lab()
        var form = MultipartFormData()
        try form.append(Data(repeating: 7, count: 10_240), name: "data")
        form.throttle = BodyThrottle(maximumBytesPerRead: 1024, delay: .milliseconds(50))
        let clock = NotingScheduler()
        form.scheduler = clock
        let request = try HTTPRequestSerializer().serialize(
            lab.request("/upload", .post, at: .direct), parameters: nil, form: form)
        let start = ContinuousClock.now
        let end = try await lab.run(request)
        #expect(ContinuousClock.now - start >= .milliseconds(450))
        // Each piece is read after the pause of the one before, however busy the machine is.
        let reads = clock.instants.all
        #expect(reads.count >= 10)
        #expect(zip(reads, reads.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(50) })
        #expect(end.json?["count"] == form.length.map { .integer($0) })
        #expect(end.json?["chunked"] == false)
    }
}

/// The usual clock, which notes when pauses begin.
private struct NotingScheduler: BodyScheduler {
    let instants = Diary<ContinuousClock.Instant>()

    func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) {
        instants.record(.now)
        TaskBodyScheduler().schedule(after: delay, action)
    }
}
