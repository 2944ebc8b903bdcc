// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Outbox
import Synchronization

/// Measures what `Tests/Benchmarks` compares with C on SQLite, and how a full outbox behaves.
///
///     drill callers FOLDER COUNT CALLERS    so many callers enqueue, each one request after the other
///     drill thread FOLDER COUNT             one caller does, on the outbox's thread
///     drill fill FOLDER URL COUNT           in transactions of 1,000
///     drill full FOLDER                     opening, and pages of the list
///     drill ends FOLDER SAMPLE              delivers so many, removes all but so many, and delivers the rest
///
/// Prints `WORD COUNT MILLISECONDS`, `written 1 BYTES` and `memory 1 KIB` (the peak).
enum Speed {
    /// One caller on the outbox's thread: as a program without threads would store.
    static func onThread(_ folder: String, count: Int) async throws {
        let outbox = try await open(folder)
        try await withTaskExecutorPreference(outbox.storageExecutor) {
            let (before, start) = (written, ContinuousClock.now)
            for number in 0..<count { try await outbox.enqueue(sample(number)) }
            report("enqueue", count, since: start)
            say("written 1 \(written - before)")
        }
        await outbox.close()
    }

    static func callers(_ folder: String, count: Int, callers: Int) async throws {
        let outbox = try await open(folder)
        let (before, start) = (written, ContinuousClock.now)
        let each = count / callers
        if callers == 1 {
            for number in 0..<each { try await outbox.enqueue(sample(number)) }
        } else {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<callers {
                    group.addTask {
                        for number in 0..<each { try await outbox.enqueue(sample(caller * each + number)) }
                    }
                }
                try await group.waitForAll()
            }
        }
        report("enqueue", each * callers, since: start)
        say("written 1 \(written - before)")
        await outbox.close()
    }

    static func fill(_ folder: String, _ url: String, count: Int) async throws {
        let outbox = try await open(folder, checks: false)
        let start = ContinuousClock.now
        for first in stride(from: 0, to: count, by: 1_000) {
            try await outbox.enqueue((first..<min(first + 1_000, count)).map { try sample($0, url) })
        }
        report("fill", count, since: start)
        await outbox.close()
    }

    /// How soon a full outbox takes a request, and how fast its pages are.
    static func full(_ folder: String) async throws {
        var start = ContinuousClock.now
        let outbox = try await open(folder)
        report("open", 1, since: start)
        let receipt = try await outbox.enqueue(sample(0))
        report("start", 1, since: start)
        let last = receipt.id.rawValue
        try await page("first", outbox, after: nil)
        try await page("middle", outbox, after: last / 2)
        try await page("last", outbox, after: last - 1_000)
        start = .now
        let lane = try await outbox.entries(lane: "lane-5", after: OutboxID(rawValue: last / 2), limit: 1_000)
        report("lane", lane.count, since: start)
        start = .now
        let counts = try await outbox.counts()
        report("count", counts.waiting, since: start)
        start = .now
        try await outbox.startDelivery(with: URLSessionManager())
        report("delivery", 1, since: start)
        try await outbox.remove([receipt.id])
        await outbox.close()
        say("memory 1 \(status("VmHWM"))")
    }

    private static func page(_ word: String, _ outbox: RequestOutbox, after: Int64?) async throws {
        let start = ContinuousClock.now
        let page = try await outbox.entries(after: after.map { OutboxID(rawValue: $0) }, limit: 1_000)
        report(word, page.count, since: start)
    }

    /// How fast the first entries leave beside all others, and the last by themselves.
    static func ends(_ folder: String, sample: Int) async throws {
        var outbox = try await open(folder, checks: false)
        // What was tried without a server waits for its next try.
        try await outbox.flush()
        try await leave("first-delivered", sample, outbox)
        let start = ContinuousClock.now
        var (after, removed, ids) = (OutboxID?.none, 0, [OutboxID]())
        let surplus = try await outbox.counts().waiting - sample
        while removed < surplus {
            ids = try await outbox.entries(after: after, limit: min(10_000, surplus - removed)).map(\.id)
            try await outbox.remove(ids)
            (after, removed) = (ids.last, removed + ids.count)
        }
        report("removed", removed, since: start)
        await outbox.close()
        outbox = try await open(folder, checks: false)
        try await leave("last-delivered", sample, outbox)
        await outbox.close()
    }

    /// From the first to the last of so many deliveries.
    private static func leave(_ word: String, _ count: Int, _ outbox: RequestOutbox) async throws {
        struct Progress {
            var left = 0
            var start = ContinuousClock.now
            var time = Duration.zero
            var written: (before: Int, after: Int) = (0, 0)
        }
        let progress = Mutex(Progress())
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let observation = outbox.observe { event in
            guard case .delivered = event else { return }
            progress.withLock { progress in
                progress.left += 1
                if progress.left == 1 { (progress.start, progress.written.before) = (.now, written) }
                guard progress.left == count else { return }
                (progress.time, progress.written.after) = (.now - progress.start, written)
                end.finish()
            }
        }
        let manager = URLSessionManager(responseSerializer: HTTPResponseSerializer())
        try await outbox.startDelivery(with: manager)
        for await _ in ends {}
        await outbox.stopDelivery()
        observation.cancel()
        let found = progress.withLock { $0 }
        report(word, count, found.time)
        say("\(word)-written \(count) \(found.written.after - found.written.before)")
    }

    private static func open(_ folder: String, checks: Bool = true) async throws -> RequestOutbox {
        var configuration = OutboxConfiguration()
        configuration.limits.maximumEntries = 10_000_000
        configuration.checksIntegrity = checks
        return try await RequestOutbox(at: folder, configuration: configuration)
    }

    /// The same as in `Tests/Benchmarks/outbox/programs/outbox_sqlite.c`.
    static func sample(_ number: Int, _ url: String = "http://127.0.0.1:1") throws -> OutboxRequest {
        var request = try OutboxRequest(
            "\(url)/samples/\(number)", body: .data(Data("{\"value\":\(number),\"unit\":\"kWh\"}".utf8)))
        request.lane = "lane-\(number % 10)"
        return request
    }

    /// `WORD COUNT MILLISECONDS`.
    static func report(_ word: String, _ count: Int, since start: ContinuousClock.Instant) {
        report(word, count, ContinuousClock.now - start)
    }

    private static func report(_ word: String, _ count: Int, _ time: Duration) {
        let (seconds, attoseconds) = time.components
        say("\(word) \(count) \(Double(seconds) * 1e3 + Double(attoseconds) / 1e15)")
    }

    /// The bytes that this process has had written to disks (proc_pid_io(5)).
    static var written: Int { figure("write_bytes", of: "/proc/self/io") }
    /// A figure of proc_pid_status(5), in KiB.
    static func status(_ name: String) -> Int { figure(name, of: "/proc/self/status") }

    private static func figure(_ name: String, of file: String) -> Int {
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
        return line.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
