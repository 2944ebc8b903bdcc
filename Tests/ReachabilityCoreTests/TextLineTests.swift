// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import Testing

@Suite struct TextLineTests {
    @Test(
        "Parts of every length follow each other, however often the memory has to grow",
        arguments: [1, 127, 128, 129, 1000])
    func grows(length: Int) {
        var line = TextLine()
        var expected = ""
        for round in 0..<20 {
            let part = String(repeating: "\(round % 10)", count: length)
            line.append(part)
            line.append(literal: "ä")
            line.append(byte: 0x7C)
            line.append(round)
            expected += part + "ä|\(round)"
        }
        #expect(line.text == expected)
        #expect(line.count == expected.utf8.count)
        #expect(line.bytes(from: length) == Array(expected.utf8.dropFirst(length)))
    }

    @Test("Numbers at their limits")
    func numbers() {
        var line = TextLine()
        line.append(Int64.min)
        line.append(literal: " ")
        line.append(UInt64.max)
        line.append(literal: " ")
        line.append(Int32.min)
        line.append(literal: " ")
        line.append(7, digits: 3)
        #expect(line.text == "\(Int64.min) \(UInt64.max) \(Int32.min) 007")
    }

    @Test("Emptied, it begins anew in the same memory; nothing is nothing")
    func empty() {
        var line = TextLine()
        #expect(line.bytes.isEmpty)
        line.append("")
        line.append(literal: "")
        #expect(line.count == 0)
        line.append(String(repeating: "x", count: 5000))
        line.removeAll()
        #expect(line.text == "")
        line.append(IPAddress("2001:db8::1")!)
        #expect(line.text == "2001:db8::1")
    }
}

/// Statuses as text for people.
@Suite struct StatusTextTests {
    @Test("the sentences are AFNetworking's, and keys for a table of translations, which need not have all")
    func sentences() {
        let all: [ReachabilityStatus] = [.unknown, .unreachable, .wifi, .wired]
        let sentences = ["Unknown", "Not Reachable", "Reachable via WiFi", "Reachable via Wired"]
        #expect(all.map(\.localizationKey) == sentences)
        #expect(all.map { $0.localizedString() } == sentences)
        let table = ["Not Reachable": "Nicht erreichbar"]
        #expect(ReachabilityStatus.unreachable.localizedString { table[$0] } == "Nicht erreichbar")
        #expect(ReachabilityStatus.wifi.localizedString { table[$0] } == "Reachable via WiFi")
    }
}
