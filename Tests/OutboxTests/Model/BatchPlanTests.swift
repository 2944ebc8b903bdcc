// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Outbox

/// Which entries form a batch, and when it is sent.
@Suite struct BatchPlanTests {
    private let kind = BatchKind(url: "https://api.example.com/samples")

    private func candidate(_ id: Int64, size: Int64 = 10, created: Int64 = 0, _ kind: BatchKind? = nil)
        -> BatchCandidate
    {
        BatchCandidate(id: OutboxID(rawValue: id), size: size, created: created, kind: kind ?? self.kind)
    }

    private func rule(_ count: Int, bytes: Int64 = 1_000_000, age: Duration = .seconds(10)) -> BatchRule {
        var rule = BatchRule()
        (rule.maximumCount, rule.maximumBytes, rule.maximumAge) = (count, bytes, age)
        return rule
    }

    private func plan(
        _ candidates: [BatchCandidate], _ rule: BatchRule, ceiling: Int64? = nil, now: Int64 = 0
    ) -> BatchPlan {
        var plan = BatchPlan(first: candidates[0], rule: rule, ceiling: ceiling, now: now)
        for candidate in candidates.dropFirst() { plan.offer(candidate) }
        return plan
    }

    private func numbers(_ plan: BatchPlan) -> [Int64] { plan.members.map(\.rawValue) }

    @Test("OBX-200 A batch is sent when it is full, or when its oldest entry has waited long enough")
    func fullOrOld() {
        let two = plan([candidate(1, created: 500), candidate(2, created: 9_000)], rule(3), now: 9_000)
        #expect(!two.isDue(at: 10_499) && two.isDue(at: 10_500) && two.due == 10_500)
        var three = two
        three.offer(candidate(3))
        #expect(three.isDue(at: 0) && numbers(three) == [1, 2, 3])
        three.offer(candidate(4))
        #expect(numbers(three) == [1, 2, 3])
        #expect(two.room == 1 && three.room == 0)
    }

    @Test("OBX-201 Bytes fill a batch too, with what joins them; one that is larger alone is a batch of one")
    func bytes() {
        let filled = plan((1...9).map { candidate($0, size: 30) }, rule(100, bytes: 93))
        #expect(numbers(filled) == [1, 2, 3] && filled.bytes == 93 && filled.isDue(at: 0))
        let next = plan([candidate(1, size: 30), candidate(2, size: 90)], rule(100, bytes: 100))
        #expect(numbers(next) == [1] && next.isDue(at: 0))
        #expect(numbers(plan([candidate(1, size: 5_000), candidate(2)], rule(100, bytes: 100))) == [1])
        let lowered = plan((1...9).map { candidate($0) }, rule(100), ceiling: 44)
        #expect(numbers(lowered) == [1, 2, 3, 4])
    }

    @Test(
        "OBX-202 Another URL, header, secret, network, time limit, window or gate ends a batch: without gaps")
    func kinds() {
        let changes: [(inout BatchKind) -> Void] = [
            { $0.url += "/2" }, { $0.method = "PUT" }, { $0.header = "A: b\n" }, { $0.secrets = "x" },
            { $0.condition = 2 }, { $0.timeout = 5 }, { $0.window = OutboxWindow("01:00-02:00") },
            { $0.gates = ["battery"] }, { $0.delay = 1 },
        ]
        for change in changes {
            var other = kind
            change(&other)
            let plan = self.plan([candidate(1), candidate(2), candidate(3, other), candidate(4)], rule(10))
            #expect(numbers(plan) == [1, 2] && plan.isDue(at: 0))
        }
        let encoded = BatchCandidate(id: OutboxID(rawValue: 1), size: 10, created: 0, kind: nil)
        let alone = plan([encoded, candidate(2)], rule(10))
        #expect(alone.isAlone && numbers(alone) == [1] && alone.isDue(at: 0))
    }

    @Test("OBX-203 An entry from before the clock was set back waits no longer than others")
    func clock() {
        let plan = self.plan([candidate(1, created: 1_000_000)], rule(3), now: 5_000)
        #expect(plan.due == 15_000)
    }

    @Test("OBX-204 Forms: a JSON array, lines that each end once, a template; keys follow from all of it")
    func forms() {
        func joined(_ form: BatchForm, _ texts: [String]) -> String {
            String(decoding: form.joined(texts.map { Array($0.utf8) }), as: UTF8.self)
        }
        #expect(joined(.jsonArray, ["1", "{}", "null"]) == "[1,{},null]")
        #expect(joined(.jsonArray, ["1"]) == "[1]")
        #expect(joined(.lines, ["a", "b\n", "c\nd"]) == "a\nb\nc\nd\n")
        let template = BatchForm.template(prefix: "{\"points\":[", separator: ", ", suffix: "]}")
        #expect(joined(template, ["1", "2"]) == "{\"points\":[1, 2]}")
        let keys = [
            BatchForm.lines.key(of: ["a", "b"]), BatchForm.lines.key(of: ["b", "a"]),
            BatchForm.lines.key(of: ["a"]), BatchForm.lines.key(of: ["ab"]),
            BatchForm.jsonArray.key(of: ["a", "b"]), template.key(of: ["a", "b"]),
            BatchForm.template(prefix: "{\"points\":[,", separator: " ", suffix: "]}").key(of: ["a", "b"]),
        ]
        #expect(Set(keys).count == keys.count)
        #expect(keys[0] == BatchForm.lines.key(of: ["a", "b"]))
        #expect(keys.allSatisfy { $0.utf8.count == 38 && $0.hasPrefix("batch-") })
    }

    @Test("OBX-205 A server that refuses a batch as too large gets half as much for an hour")
    func ceiling() {
        let ceiling = BatchCeiling(refused: 1_000, at: 5_000)
        #expect(ceiling.limit(at: 5_000) == 500 && ceiling.limit(at: 3_604_999) == 500)
        #expect(ceiling.limit(at: 3_605_000) == nil)
        // Set back by a day.
        #expect(ceiling.limit(at: 5_000 - 86_400_000) == nil)
        #expect(BatchCeiling(refused: 1, at: 0).bytes == 1)
    }
}
