// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

struct DataTaskTests {
    @Test("AF-121 a data task brings the object and no error, and is completed")
    func object() async throws {
        let lab = try await Lab()
        let box = Box<Finished>()
        let task = try lab.manager.dataTask(with: lab.request("/get?a=1")) { response, object, error in
            box.put(Finished(response: response, object: object, error: error))
        }
        #expect(task.state == .suspended)
        task.resume()
        let end = await box.value
        #expect(end.json?["args"]?["a"] == "1")
        #expect(end.error == nil)
        #expect(end.response?.statusCode == 200)
        #expect(task.state == .completed)
        #expect(box.count == 1)
    }

    @Test("API-576 an outcome is printed as status, size and error, without the content")
    func printed() async throws {
        let lab = try await Lab()
        func outcome(_ path: String) async throws -> TaskOutcome {
            let task = try lab.manager.dataTask(with: lab.request(path))
            task.resume()
            return await task.outcome()
        }
        #expect("\(try await outcome("/bytes/5"))" == "status 200, 5 bytes, complete")
        let failed = try await Lab.outcome(ofFault: "nul-in-trailer")
        #expect("\(failed)".hasPrefix("status 200, "), "\(failed)")
        #expect("\(failed)".contains("badServerResponse: the server's answer is no proper HTTP"), "\(failed)")
        #expect(!"\(failed)".contains("hello"), "\(failed)")
    }

    @Test("AF-122 a status outside the acceptable ones is an error, and the task is completed")
    func notFound() async throws {
        let lab = try await Lab()
        let box = Box<Finished>()
        let task = try lab.manager.dataTask(with: lab.request("/status/404")) { response, object, error in
            box.put(Finished(response: response, object: object, error: error))
        }
        task.resume()
        let end = await box.value
        #expect(end.error?.code == .badServerResponse)
        #expect(end.response?.statusCode == 404)
        #expect(task.state == .completed)
    }

    @Test("AF-124 AF-125 no content is success without an object", arguments: [200, 204])
    func empty(_ status: Int) async throws {
        let lab = try await Lab()
        let end = try await lab.run(lab.request("/status/\(status)"))
        #expect(end.error == nil)
        #expect(end.object == nil)
        #expect(end.response?.statusCode == status)
    }

    @Test("AF-126 HTML where JSON is expected: an error that has the HTML")
    func html() async throws {
        let lab = try await Lab()
        let end = try await lab.run(lab.request("/html"))
        #expect(end.error?.code == .cannotDecodeContentData)
        let body = try #require(end.error?.data)
        #expect(String(decoding: body, as: UTF8.self).contains("<html"))
    }

    @Test("content that is not to be decoded is asked for as it is, and comes as it is")
    func encoded() async throws {
        let lab = try await Lab()
        var request = try lab.request("/headers")
        request.options.decompressesContent = false
        let (sent, _) = try await lab.manager.data(for: request)
        #expect(!String(decoding: sent, as: UTF8.self).contains("Accept-Encoding"))
        request = try lab.request("/gzip")
        request.options.decompressesContent = false
        try request.setValue("gzip", forHeader: "Accept-Encoding")
        let (packed, response) = try await lab.manager.data(for: request)
        #expect(packed.prefix(2) == Data([0x1F, 0x8B]))
        #expect(response.value(forHeader: "content-encoding") == "gzip")
    }

    @Test("a server that cannot be connected to is given up when the limit for that is over")
    func connectLimit() async throws {
        let lab = try await Lab()
        var request = try lab.request("/", at: .blackhole)
        request.options.timeouts.connect = .milliseconds(200)
        #expect(try await lab.run(request).error?.code == .timedOut)
    }

    @Test("AF-128 the completion block is called on the queue of choice, unless said on a thread of its own")
    func queue() async throws {
        let lab = try await Lab()
        let (called, transferring) = (Box<pthread_t>(), Box<pthread_t>())
        try lab.manager.dataTask(with: lab.request("/get")) { _, _, _ in called.put(pthread_self()) }.resume()
        var onLoop = TaskOptions()
        onLoop.completionQueue = try lab.manager.transferQueue
        try lab.manager.dataTask(with: lab.request("/get"), options: onLoop) { _, _, _ in
            transferring.put(pthread_self())
        }.resume()
        #expect(await called.value != transferring.value)

        let diary = Diary<String>()
        let box = Box<Bool>()
        var options = TaskOptions()
        options.completionQueue = .custom { work in
            diary.record("submitted")
            Task.detached { work() }
        }
        let task = try lab.manager.dataTask(with: lab.request("/get"), options: options) { _, _, error in
            diary.record("called")
            box.put(error == nil)
        }
        task.resume()
        #expect(await box.value)
        #expect(diary.all == ["submitted", "called"])
    }

    @Test("AF-157 a task that is cancelled completes once, with cancelled", arguments: [false, true])
    func cancel(_ isRunning: Bool) async throws {
        let lab = try await Lab()
        let key = "cancel-\(isRunning)"
        let box = Box<Finished>()
        let task = try lab.manager.dataTask(with: lab.request("/hold/never?key=\(key)")) {
            response, object, error in
            box.put(Finished(response: response, object: object, error: error))
        }
        if isRunning {
            task.resume()
            try await lab.origin.wait(for: key, [.count: 1])
        }
        task.cancel()
        task.cancel()
        #expect(await box.value.error?.code == .cancelled)
        let outcome = await task.outcome()
        #expect(outcome.error?.code == .cancelled)
        #expect(task.state == .completed)
        #expect(box.count == 1)
        #expect(lab.manager.tasks.isEmpty)
    }

    @Test("AF-160 a silent server ends in a time-out")
    func timeout() async throws {
        let lab = try await Lab()
        var request = try lab.request("/hold/never")
        request.options.timeoutInterval = .milliseconds(200)
        let end = try await lab.run(request)
        #expect(end.error?.code == .timedOut)
    }

    @Test("the limit for the whole task counts from the first resume")
    func totalTimeout() async throws {
        let lab = try await Lab()
        var request = try lab.request("/drip?n=10000&ms=10")
        request.options.timeouts.total = .milliseconds(300)
        #expect(try await lab.run(request).error?.code == .timedOut)
    }

    @Test("AF-162 AF-161 the progress object cancels and suspends its task")
    func progressControls() async throws {
        let lab = try await Lab()
        let task = try lab.manager.dataTask(with: lab.request("/hold/never"))
        let progress = task.downloadProgress
        task.resume()
        progress.pause()
        #expect(task.state == .suspended)
        progress.resume()
        #expect(task.state == .running)
        progress.cancel()
        #expect(await task.outcome().error?.code == .cancelled)
        #expect(progress.totalBytes == nil && progress.snapshot.isIndeterminate)
    }

    @Test("AF-164 compressed content is decoded; what is done never exceeds what is expected")
    func gzip() async throws {
        let lab = try await Lab()
        let diary = Diary<TransferProgress.Snapshot>()
        var options = TaskOptions()
        options.downloadProgress = { diary.record($0) }
        let (data, response) = try await lab.manager.data(
            for: lab.request("/gzip?n=300000"), options: options)
        #expect(data.count == 300_000)
        #expect(response.value(forHeader: "content-encoding") == "gzip")
        // Told beside the result; decoded bytes are counted, of an unknown total.
        while diary.all.last?.completedBytes != 300_000 { await Task.yield() }
        #expect(diary.all.allSatisfy { $0.isIndeterminate && $0.fractionCompleted == 0 })
    }

    @Test("AF-169 snapshots of running tasks, also from inside a block: data, upload, download")
    func snapshots() async throws {
        let lab = try await Lab()
        let request = try lab.request("/hold/never?key=snapshots")
        let download = try lab.manager.downloadTask(with: request)
        let upload = try lab.manager.uploadTask(with: lab.request("/hold/never", .post), from: Data([1]))
        let data = [try lab.manager.dataTask(with: request), try lab.manager.dataTask(with: request)]
        for task in data + [upload, download] { task.resume() }
        let box = Box<[Int]>()
        let last = try lab.manager.dataTask(with: lab.request("/get")) { _, _, _ in
            box.put(lab.manager.tasks.map(\.identifier))
        }
        last.resume()
        #expect(await box.value == (data + [upload, download]).map(\.identifier))
        for task in lab.manager.tasks { task.cancel() }
    }

    @Test("AF-140 a group waits for the completion blocks of all its tasks")
    func group() async throws {
        let lab = try await Lab()
        let group = CompletionGroup()
        let diary = Diary<Int>()
        var options = TaskOptions()
        options.completionGroup = group
        for number in 0..<10 {
            try lab.manager.dataTask(with: lab.request("/get?n=\(number)"), options: options) { _, _, _ in
                diary.record(number)
            }.resume()
        }
        await group.wait()
        #expect(diary.all.sorted() == Array(0..<10))
    }
}
