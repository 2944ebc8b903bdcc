// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import SessionCore
import Testing

@Suite("Lists of lanes in the service's configuration")
struct LaneListTests {
    private func read(_ text: String) -> ConfigurationReader {
        var reader = ConfigurationReader()
        reader.read(file: "reach.toml", Array(text.utf8))
        reader.finish()
        return reader
    }

    @Test("OBX-249 lanes that join requests, and their budgets; a wrong word is refused with what is allowed")
    func lanes() {
        let reader = read(
            """
            [outbox]
            batch = ["samples=array count:500 bytes:1000 age:10s gzip", "log%20x=lines type:text/plain", "p=template prefix:%7B%22a%22:[ separator:%2C suffix:]}"]
            budget = ["samples=bytes:5000000 requests:10"]
            rate = 1000
            expensive-rate = 10
            """)
        #expect(reader.problems == [])
        let settings = reader.configuration.outbox.batch.compactMap { BatchSetting($0) }
        #expect(settings.map(\.lane) == ["samples", "log x", "p"])
        #expect(settings[0].count == 500 && settings[0].bytes == 1_000 && settings[0].age == .seconds(10))
        #expect(settings[0].compression == "gzip" && settings[1].contentType == "text/plain")
        #expect(
            settings.map(\.form)[1...] == [
                .lines, .template(prefix: "{\"a\":[", separator: ",", suffix: "]}"),
            ])
        let budget = reader.configuration.outbox.budget.compactMap { BudgetSetting($0) }
        #expect(budget.map(\.bytes) == [5_000_000] && budget.map(\.requests) == [10])
        #expect(reader.configuration.outbox.rate == 1_000 && reader.configuration.outbox.expensiveRate == 10)
        let wrong = [
            "samples", "=array", "a=", "a=array lines", "a=count:5", "a=array count:0", "a=array age:10",
            "a=lines prefix:x", "a=array gzip deflate", "a=template prefix:%4", "a=array array",
        ]
        for text in wrong {
            #expect(BatchSetting(text) == nil, "\(text)")
            let problems = read("[outbox]\nbatch = [\"\(text)\"]").problems.map(\.description)
            #expect(problems.first?.hasSuffix(BatchSetting.allowed) == true)
        }
        for text in ["a", "a=bytes", "a=bytes:x", "a=bytes:-1", "a=money:5", "a=bytes:1 bytes:2"] {
            #expect(BudgetSetting(text) == nil, "\(text)")
        }
    }

    @Test("OBX-251 two rules or two budgets for one lane are a mistake, in the file and as options")
    func repeatedLanes() {
        let reader = read(
            """
            [outbox]
            batch = ["a%20b=array", "c=lines", "a b=lines age:10s", "a b=array"]
            budget = ["a=bytes:1", "b=bytes:1", "a=requests:1"]
            """)
        let twice = "is in the list twice; write all of it into one text"
        #expect(
            reader.problems.map(\.description) == [
                "reach.toml:2: outbox.batch: lane \"a b\" \(twice)",
                "reach.toml:3: outbox.budget: lane \"a\" \(twice)",
            ])
        var plain = ConfigurationReader()
        plain.read(arguments: ["--outbox-batch", "a=array,a=lines"])
        plain.finish()
        #expect(
            plain.problems.map(\.description) == ["--outbox-batch: outbox.batch: lane \"a\" \(twice)"])
        // A later source takes the place of an earlier one's whole list.
        var layers = ConfigurationReader()
        layers.read(file: "f", Array("[outbox]\nbatch = [\"a=array\"]".utf8))
        layers.read(arguments: ["--outbox-batch", "a=lines"])
        layers.finish()
        #expect(layers.problems == [] && layers.configuration.outbox.batch == ["a=lines"])
    }

    @Test("FLD-117 of a list with several texts the wrong one is named")
    func wrongMember() {
        let reader = read("[outbox]\nbatch = [\"a=lines\", \"b=array count:0\"]\n")
        let problem = reader.problems.first?.description ?? ""
        #expect(problem.contains("\"b=array count:0\" is not allowed") && !problem.contains("a=lines"))
    }
}
