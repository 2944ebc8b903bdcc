// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Outbox

/// The program that `Tests/Outbox` starts and kills: enqueues numbered requests, delivers them, and prints
/// what is certain.
///
///     drill enqueue FOLDER URL FIRST COUNT LANES BATCH
///         "took NUMBER KEY" for each, when it is on the disk
///     drill replace FOLDER URL FIRST COUNT LANES BATCH
///         the same with a name for each lane; every third is scheduled, every fourth has a window that is
///         always open, every fifth names a gate that is held now and then
///     drill again FOLDER URL FIRST COUNT LANES BATCH
///         the same with a key for each number, so that those that are there are not stored once more
///     drill tidy FOLDER URL FIRST COUNT
///         enqueues one by one, removes those with the tag "drop", which wait behind a gate, and makes those
///         wait again that got 404: "removed ID" and "retried ID"
///     drill release FOLDER     releases that gate, and makes those wait again
///     drill results FOLDER
///         "result ID OUTCOME STATUS", or "result ID none", for each ID from standard input
///     drill join FOLDER URL FIRST COUNT LANES BATCH
///         the same with small contents, in lanes that join them as lines
///     drill samples FOLDER URL COUNT LANE     enqueues so many of 200 bytes, and delivers them
///     drill deliver FOLDER     "sent ID" for each, when it has left; until standard input ends
///     drill drain FOLDER       the same, until nothing waits
///     drill measure FOLDER COUNT     the times of enqueueing, opening and listing
///     drill fetch FOLDER URL FILE [SHA256 [BYTES [MIRROR…]]]
///         fetches a file; "taken ID", "told PATH BYTES" when it is in its place, "sent ID" or "died …";
///         SIGKILL once so many bytes have come
///     drill callers|fill|full|ends …     how fast it is beside others, and when it is full; see ``Speed``
///     drill week …     a week without a network; see ``Week``
///     drill window WINDOW FROM COUNT     the next openings by this process's time zone
@main
enum Drill {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch (arguments.first, arguments.count) {
            case ("enqueue", 7): try await enqueue(arguments) { try request($0, $1, lanes: $2) }
            case ("again", 7): try await enqueue(arguments, keyed)
            case ("replace", 7): try await enqueue(arguments, planned)
            case ("tidy", 5): try await tidy(arguments)
            case ("release", 2): try await release(arguments[1])
            case ("results", 2): try await results(arguments[1])
            case ("join", 7): try await enqueue(arguments, joined)
            case ("samples", 5): try await samples(arguments)
            case ("deliver", 2): try await deliver(arguments[1], drains: false)
            case ("drain", 2): try await deliver(arguments[1], drains: true)
            case ("measure", 3):
                try await Measure(folder: arguments[1], count: Int(arguments[2]) ?? 1_000).run()
            case ("fetch", 4...): try await fetch(arguments)
            case ("callers", 4):
                try await Speed.callers(
                    arguments[1], count: Int(arguments[2]) ?? 1, callers: max(Int(arguments[3]) ?? 1, 1))
            case ("thread", 3): try await Speed.onThread(arguments[1], count: Int(arguments[2]) ?? 1)
            case ("fill", 4): try await Speed.fill(arguments[1], arguments[2], count: Int(arguments[3]) ?? 1)
            case ("full", 2): try await Speed.full(arguments[1])
            case ("ends", 3): try await Speed.ends(arguments[1], sample: Int(arguments[2]) ?? 1)
            case ("week", 6): try await Week.run(arguments)
            case ("window", 4): openings(arguments[1], Int64(arguments[2]) ?? 0, Int(arguments[3]) ?? 1)
            default: throw OutboxError(.badRequest, "no such work: \(arguments)")
            }
        } catch {
            say("failed \(error)")
            exit(1)
        }
    }

    static var configuration: OutboxConfiguration {
        var configuration = OutboxConfiguration()
        configuration.retries.first = .milliseconds(20)
        configuration.retries.longest = .milliseconds(200)
        // The unused bytes above which the file is compacted.
        if let spare = getenv("REACH_DRILL_SPARE").flatMap({ Int64(String(cString: $0)) }) {
            configuration.spareSpace = spare
        }
        for lane in 0..<5 {
            var rule = BatchRule(.lines)
            (rule.maximumCount, rule.maximumAge) = (20, .milliseconds(30))
            rule.compression = lane % 2 == 0 ? nil : .gzip
            configuration.batches["join-\(lane)"] = rule
        }
        var rule = BatchRule()
        rule.maximumAge = .zero
        rule.compression = .gzip
        configuration.batches["batch"] = rule
        return configuration
    }

    static func open(_ folder: String) async throws -> RequestOutbox {
        try await RequestOutbox(at: folder, configuration: configuration) { event in
            switch event {
            case .damaged(let path, let reason, let count): say("damaged \(path) \(count) \(reason)")
            case .storageFailed(let text): say("storage \(text)")
            case .delivered(let id, _): say("sent \(id)")
            case .replaced(let id, let successor): say("replaced \(id) \(successor)")
            case .died(let id, let failure): say("died \(id) \(failure)")
            default: break
            }
        }
    }

    /// Every seventh is large enough for a file of its own; every fifth frees many pages.
    static func content(_ number: Int) -> Data {
        let size = number % 7 == 0 ? 70_000 : number % 5 == 0 ? 20_000 : 20
        return Data(("\(number) " + String(repeating: "x", count: size)).utf8)
    }

    /// The number is in URL, key and content, so that the other end can compare.
    static func request(_ number: Int, _ url: String, lanes: Int, kind: String = "") throws -> OutboxRequest {
        let lane = number % lanes
        var request = try OutboxRequest(
            "\(url)/take?n=\(number)&lane=\(kind)\(lane)", body: .data(content(number)))
        request.lane = "lane-\(lane)"
        return request
    }

    /// The same with a name for each lane, and times and gates for some.
    static func planned(_ number: Int, _ url: String, lanes: Int) throws -> OutboxRequest {
        var request = try Self.request(number, url, lanes: lanes, kind: "state-")
        let lane = number % lanes
        request.lane = "state-\(lane)"
        request.replaces = "state-\(lane)"
        request.tags = ["drill"]
        if number % 3 == 0 { request.notBefore = Date(timeIntervalSinceNow: 0.05) }
        if number % 4 == 0 { request.window = OutboxWindow("00:00-24:00") }
        if number % 5 == 0 { request.gates = ["drill"] }
        return request
    }

    /// The same with a key of the caller's.
    static func keyed(_ number: Int, _ url: String, lanes: Int) throws -> OutboxRequest {
        var request = try Self.request(number, url, lanes: lanes)
        request.idempotencyKey = "drill-\(number)"
        return request
    }

    /// One of a lane whose requests are joined, and have the same URL for that.
    static func joined(_ number: Int, _ url: String, lanes: Int) throws -> OutboxRequest {
        let lane = number % lanes
        var request = try OutboxRequest(
            "\(url)/join?lane=\(lane)",
            body: .data(Data("\(number) \(String(repeating: "x", count: 20))".utf8)))
        request.lane = "join-\(lane)"
        return request
    }

    /// Samples of 200 bytes, as a meter has them.
    static func samples(_ arguments: [String]) async throws {
        let (url, count, lane) = (arguments[2], Int(arguments[3]) ?? 1, arguments[4])
        let outbox = try await open(arguments[1])
        let requests = try (0..<count).map { number in
            // Like a meter's: names and units that repeat, numbers that do not.
            let parts = [
                "\"meter\":\"site-7/floor-3/main\"", "\"number\":\(number)",
                "\"time\":\"2026-03-01T12:\(10 + number / 60 % 50):\(10 + number % 50)Z\"",
                "\"power\":{\"unit\":\"W\",\"value\":\(number * 7_919 % 3_600)}",
                "\"voltage\":{\"unit\":\"V\",\"value\":\(230 + number * 31 % 7)}",
                "\"energy\":{\"unit\":\"Wh\",\"value\":\(1_000_000 + number * 3)}",
            ]
            var text = "{" + parts.joined(separator: ",")
            text += String(repeating: " ", count: max(199 - text.utf8.count, 0)) + "}"
            var request = try OutboxRequest(
                "\(url)/samples", headerFields: [.contentType: "application/json"],
                body: .data(Data(text.utf8)))
            request.lane = lane
            return request
        }
        try await outbox.enqueue(requests)
        let events = outbox.events
        try await outbox.startDelivery(with: URLSessionManager(responseSerializer: HTTPResponseSerializer()))
        for await _ in events where try await outbox.counts().waiting == 0 { break }
        await outbox.close()
        say("done")
    }

    static func enqueue(
        _ arguments: [String], _ make: @Sendable (Int, String, Int) throws -> OutboxRequest
    ) async throws {
        let holdsGate = arguments[0] == "replace"
        let outbox = try await open(arguments[1])
        let (first, count) = (Int(arguments[3]) ?? 0, Int(arguments[4]) ?? 0)
        let (lanes, batch) = (Int(arguments[5]) ?? 1, max(Int(arguments[6]) ?? 1, 1))
        var number = first
        while number < first + count {
            let numbers = number..<min(number + batch, first + count)
            let requests = try numbers.map { try make($0, arguments[2], lanes) }
            do {
                // Held for a second at most, whatever kills this process.
                if holdsGate, number % 2 == 0 {
                    try await outbox.hold(gate: "drill", until: Date(timeIntervalSinceNow: 1))
                } else if holdsGate {
                    try await outbox.release(gate: "drill")
                }
                acknowledge(numbers, try await outbox.enqueue(requests))
            } catch let error as OutboxError where error.code == .diskFull {
                say("full \(number)")
                // What is refused now would arrive after its successors when it is stored once more.
                if arguments[0] == "again" { break }
            }
            number = numbers.upperBound
        }
        await outbox.close()
        say("done")
    }

    static func acknowledge(_ numbers: Range<Int>, _ receipts: [OutboxReceipt]) {
        for (number, receipt) in zip(numbers, receipts) {
            let former = receipt.replaced.map(\.description).joined(separator: ",")
            say("took \(number) \(receipt.id) \(receipt.idempotencyKey) \(former)")
        }
    }

    /// The request's key is the file, so that a second start does not store it again.
    static func fetch(_ arguments: [String]) async throws {
        let file = arguments[3]
        let folder = String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])
        var configuration = configuration
        configuration.limits.downloadFolders = [folder]
        configuration.downloadHandler = { file in
            say("told \(file.path) \(file.bytes)")
            return true
        }
        let outbox = try await RequestOutbox(at: arguments[1], configuration: configuration) { event in
            switch event {
            case .delivered(let id, _): say("sent \(id)")
            case .died(let id, let failure): say("died \(id) \(failure)")
            case .storageFailed(let text): say("storage \(text)")
            default: break
            }
        }
        var request = OutboxRequest.download(
            try URL(spoken: arguments[2]), to: file,
            sha256: arguments.count > 4 && !arguments[4].isEmpty ? arguments[4] : nil,
            mirrors: try arguments.dropFirst(6).map { try URL(spoken: $0) })
        request.idempotencyKey = String(file.filter { $0 != " " })
        let receipt = try await outbox.enqueue(request)
        say("taken \(receipt.id)")
        if arguments.count > 5, let limit = Int64(arguments[5]), limit > 0 {
            killed(after: limit, in: folder)
        }
        let manager = URLSessionManager(responseSerializer: HTTPResponseSerializer())
        try await outbox.startDelivery(with: manager)
        _ = try await outbox.settlement(of: receipt.id)
        await outbox.close()
        say("done")
    }

    /// Ends this process once the part in a folder has so many bytes.
    private static func killed(after limit: Int64, in folder: String) {
        Task.detached {
            while true {
                for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                    var status = stat()
                    if name.hasPrefix(".reach-fetch-"), !name.contains(".resume"),
                        stat("\(folder)/\(name)", &status) == 0, status.st_size >= limit
                    {
                        kill(getpid(), SIGKILL)
                    }
                }
                usleep(1_000)
            }
        }
    }

    /// "START END" for each opening.
    static func openings(_ text: String, _ from: Int64, _ count: Int) {
        guard let window = OutboxWindow(text) else { return say("no window") }
        LocalZone.refresh()
        var now = from * 1_000
        for _ in 0..<count {
            guard let opening = window.opening(at: now, LocalZone.offset) else { break }
            say("\(opening.start / 1_000) \(opening.end / 1_000)")
            now = opening.end
        }
    }

    static func deliver(_ folder: String, drains: Bool) async throws {
        let outbox = try await open(folder)
        let events = outbox.events
        try await outbox.startDelivery(with: URLSessionManager(responseSerializer: HTTPResponseSerializer()))
        say("delivering")
        if drains {
            // There is no event where nothing waits.
            if try await outbox.counts().waiting > 0 {
                for await _ in events where try await outbox.counts().waiting == 0 { break }
            }
        } else {
            // Blocks the main thread, which has no other work.
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) > 0 {}
        }
        await outbox.close()
        say("done")
    }
}

/// Prints a line with one write, without a buffer that a kill would lose.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}
