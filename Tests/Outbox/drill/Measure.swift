// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Outbox

/// How fast an outbox takes, opens and lists.
struct Measure {
    let folder: String
    let count: Int

    func run() async throws {
        let single = min(count, 2_000)
        var outbox = try await Drill.open(folder)
        var start = ContinuousClock.now
        for number in 0..<single { try await outbox.enqueue(request(number)) }
        report("one by one, each synced", single, since: start)
        say("memory \(residentKiB) KiB")

        start = ContinuousClock.now
        var number = single
        while number < count {
            let numbers = number..<min(number + 1_000, count)
            try await outbox.enqueue(try numbers.map { try request($0) })
            number = numbers.upperBound
        }
        report("in batches of 1,000", count - single, since: start)
        say("memory \(residentKiB) KiB")
        await outbox.close()

        start = ContinuousClock.now
        outbox = try await Drill.open(folder)
        report("opened, checked", 1, since: start)
        start = ContinuousClock.now
        _ = try await outbox.counts()
        report("counted", 1, since: start)
        start = ContinuousClock.now
        let page = try await outbox.entries(limit: 1_000)
        report("listed the first \(page.count)", 1, since: start)
        start = ContinuousClock.now
        var (last, total) = (page.last?.id, page.count)
        while let after = last {
            let more = try await outbox.entries(after: after, limit: 1_000)
            total += more.count
            last = more.last?.id
        }
        report("listed all \(total) in pages", 1, since: start)
        say("memory \(residentKiB) KiB")
        start = ContinuousClock.now
        try await outbox.startDelivery(with: URLSessionManager())
        report("delivery started", 1, since: start)
        await outbox.close()
    }

    private func request(_ number: Int) throws -> OutboxRequest {
        var request = try OutboxRequest(
            "http://127.0.0.1:1/samples/\(number)",
            body: .data(Data("{\"value\":\(number),\"unit\":\"kWh\"}".utf8)))
        request.lane = "lane-\(number % 10)"
        return request
    }

    private func report(_ what: String, _ count: Int, since start: ContinuousClock.Instant) {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        let milliseconds = Double(seconds) * 1e3 + Double(attoseconds) / 1e15
        let rate = count > 1 ? ", \(Int(Double(count) / milliseconds * 1e3)) a second" : ""
        say("\(what): \(Int(milliseconds)) ms\(rate)")
    }

    private var residentKiB: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ")
        return pages.count > 1 ? (Int(pages[1]) ?? 0) * 4 : 0
    }
}
