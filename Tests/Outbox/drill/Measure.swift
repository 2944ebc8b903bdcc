// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Outbox

/// Measures the speed of enqueueing, opening and listing; `Tests/Benchmarks` reads the result.
struct Measure {
    let folder: String
    let count: Int

    func run() async throws {
        let single = min(count, 2_000)
        var outbox = try await Drill.open(folder)
        var start = ContinuousClock.now
        for number in 0..<single { try await outbox.enqueue(request(number)) }
        report("single", single, since: start)
        say("memory-single 1 \(residentKiB)")

        start = ContinuousClock.now
        var number = single
        while number < count {
            let numbers = number..<min(number + 1_000, count)
            try await outbox.enqueue(try numbers.map { try request($0) })
            number = numbers.upperBound
        }
        report("batches", count - single, since: start)
        await outbox.close()

        start = ContinuousClock.now
        outbox = try await Drill.open(folder)
        report("open", 1, since: start)
        start = ContinuousClock.now
        _ = try await outbox.counts()
        report("count", 1, since: start)
        start = ContinuousClock.now
        let page = try await outbox.entries(limit: 1_000)
        report("page", page.count, since: start)
        start = ContinuousClock.now
        var (last, total) = (page.last?.id, page.count)
        while let after = last {
            let more = try await outbox.entries(after: after, limit: 1_000)
            total += more.count
            last = more.last?.id
        }
        report("list", total, since: start)
        say("memory-full 1 \(residentKiB)")
        start = ContinuousClock.now
        try await outbox.startDelivery(with: URLSessionManager())
        report("delivery", 1, since: start)
        await outbox.close()
    }

    private func request(_ number: Int) throws -> OutboxRequest {
        var request = try OutboxRequest(
            "http://127.0.0.1:1/samples/\(number)",
            body: .data(Data("{\"value\":\(number),\"unit\":\"kWh\"}".utf8)))
        request.lane = "lane-\(number % 10)"
        return request
    }

    /// `WORD COUNT MILLISECONDS`.
    private func report(_ word: String, _ count: Int, since start: ContinuousClock.Instant) {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        say("\(word) \(count) \(Double(seconds) * 1e3 + Double(attoseconds) / 1e15)")
    }

    private var residentKiB: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ")
        return pages.count > 1 ? (Int(pages[1]) ?? 0) * 4 : 0
    }
}
