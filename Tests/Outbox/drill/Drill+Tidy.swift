// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Outbox

// Removing and retrying by selection, and what became of entries.
extension Drill {
    private static let gate = "tidy"

    /// Every third has the tag "drop" and waits behind the gate; the server refuses some of the others.
    static func tidied(_ number: Int, _ url: String) throws -> OutboxRequest {
        let drops = number % 3 == 0
        var request = try OutboxRequest("\(url)/tidy?n=\(number)&lane=tidy", body: .data(content(number)))
        request.lane = "tidy-\(drops ? 0 : 1)"
        request.tags = ["drill", drops ? "drop" : "keep"]
        if drops { request.gates = [gate] }
        return request
    }

    static func tidy(_ arguments: [String]) async throws {
        let outbox = try await open(arguments[1])
        let (first, count) = (Int(arguments[3]) ?? 0, Int(arguments[4]) ?? 0)
        do {
            try await outbox.hold(gate: gate)
            for number in first..<first + count {
                let receipt = try await outbox.enqueue(try tidied(number, arguments[2]))
                acknowledge(number..<number + 1, [receipt])
                if number % 10 == 9 {
                    for id in try await outbox.remove(OutboxSelection(tag: "drop")) { say("removed \(id)") }
                    for id in try await outbox.retry(OutboxSelection(tag: "keep", statusCode: 404)) {
                        say("retried \(id)")
                    }
                }
            }
        } catch let error as OutboxError where error.code == .diskFull {
            say("full \(first)")
        }
        await outbox.close()
        say("done")
    }

    static func release(_ folder: String) async throws {
        let outbox = try await open(folder)
        try await outbox.release(gate: gate)
        for id in try await outbox.retry(OutboxSelection(statusCode: 404)) { say("retried \(id)") }
        await outbox.close()
        say("done")
    }

    static func results(_ folder: String) async throws {
        let outbox = try await open(folder)
        while let line = readLine() {
            guard let number = Int64(line) else { continue }
            let result = try await outbox.result(of: OutboxID(rawValue: number))
            say("result \(line) " + (result.map { "\($0.outcome) \($0.statusCode ?? 0)" } ?? "none"))
        }
        await outbox.close()
        say("done")
    }
}
