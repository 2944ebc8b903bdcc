// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

@testable import Outbox

/// What the answer to a batch means for its entries.
@Suite struct BatchVerdictTests {
    private func verdict(_ status: Int, _ body: String = "", count: Int = 2) -> BatchVerdict {
        BatchVerdict(
            DeliveryVerdict(statusCode: status),
            BatchAnswer.items(statusCode: status, Data(body.utf8), count: count), count: count,
            isRepeated: false)
    }

    private func statuses(_ verdict: BatchVerdict) -> [String]? {
        guard case .each(let verdicts) = verdict else { return nil }
        return verdicts.map { verdict in
            switch verdict {
            case .delivered(let status): "delivered \(status)"
            case .dead(let failure): "dead \(failure.statusCode ?? 0)"
            case .retry(let failure): "retry \(failure.statusCode ?? 0)"
            case .untried: "untried"
            }
        }
    }

    @Test(
        "OBX-210 A 207 answers for each entry, in any of these shapes",
        arguments: [
            "[201, 422]", "[{\"status\": 201}, {\"status\": 422, \"error\": \"salt\"}]",
            "{\"items\": [{\"statusCode\": 201}, {\"code\": 422}]}",
            "{\"took\": 3, \"errors\": true, \"items\": [{\"index\": {\"status\": 201}}, {\"create\": {\"status\": 422}}]}",
            "{\"results\": [{\"status\": 201, \"id\": 7}, 422]}", "{\"responses\": [201, {\"status\": 422}]}",
        ])
    func multiStatus(body: String) {
        #expect(statuses(verdict(207, body)) == ["delivered 201", "dead 422"])
    }

    @Test(
        "OBX-211 A 207 that does not answer for each entry is no success: all is sent again",
        arguments: [
            "", "[201]", "[201, 201, 201]", "{\"items\": 2}", "<multistatus/>", "[201, \"x\"]", "[201, 7]",
            "[201, {\"index\": {\"status\": 201}, \"create\": {\"status\": 422}}]",
        ])
    func unclear(body: String) {
        guard case .whole(.retry(let failure)) = verdict(207, body) else {
            Issue.record("\(verdict(207, body))")
            return
        }
        #expect(failure.statusCode == 207 && failure.message.contains("each of 2 requests"))
    }

    @Test("OBX-212 Other successes are of all entries, but for a 200 that says it has errors")
    func success() {
        #expect(verdict(204) == .whole(.delivered(statusCode: 204)))
        #expect(verdict(200, "[201, 422]") == .whole(.delivered(statusCode: 200)))
        let bulk = "\"items\": [{\"index\": {\"status\": 200}}, {\"index\": {\"status\": 429}}]}"
        #expect(verdict(200, "{\"errors\": false, " + bulk) == .whole(.delivered(statusCode: 200)))
        #expect(statuses(verdict(200, "{\"errors\": true, " + bulk)) == ["delivered 200", "retry 429"])
    }

    @Test("OBX-213 413 halves a batch, 400 and 422 have the bad one searched, and all others are for all")
    func refusals() {
        #expect(verdict(413) == .halves(searches: false, later: nil))
        for status in [400, 422] { #expect(verdict(status) == .halves(searches: true, later: nil)) }
        for status in [400, 413, 422] {
            #expect(verdict(status, count: 1) == .whole(DeliveryVerdict(statusCode: status)))
        }
        for status in [401, 404, 409, 429, 503] {
            #expect(verdict(status) == .whole(DeliveryVerdict(statusCode: status)))
        }
        // Asked to come later: not with the same batch, which could be refused for ever.
        for status in [400, 413, 422, 429] {
            let later = DeliveryVerdict(statusCode: status, asksForLater: true)
            guard case .retry(let failure) = later else {
                Issue.record("\(later)")
                continue
            }
            let verdict = BatchVerdict(later, nil, count: 2, isRepeated: false)
            #expect(
                verdict == (status == 429 ? .whole(later) : .halves(searches: status != 413, later: failure)))
            #expect(BatchVerdict(later, nil, count: 1, isRepeated: false) == .whole(later))
        }
    }

    @Test("OBX-214 A 409 of an entry may be of its earlier try, where there was one")
    func conflict() {
        let items = [BatchItem(statusCode: 409, text: Data())]
        for isRepeated in [false, true] {
            let verdict = BatchVerdict(
                .delivered(statusCode: 207), items, count: 1, isRepeated: isRepeated)
            #expect(statuses(verdict) == [isRepeated ? "retry 409" : "dead 409"])
        }
    }
}
