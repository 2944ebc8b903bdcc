// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import Testing

@testable import reach

@Suite("JSON of links from line to line")
struct LinkFragmentsTests {
    private func link(_ index: Int32, _ sentence: String, addresses: [String] = []) -> LinkReport {
        LinkReport(
            name: "eth\(index)", index: index, medium: .ethernet, isOnline: false,
            reason: ReachabilityReason(.noRoute, sentence: sentence), addresses: addresses)
    }

    @Test("every line says what it would say alone, whatever the line before said", arguments: [true, false])
    func lines(isKept: Bool) {
        let few = [link(1, "a"), link(2, "b")]
        let sets: [[LinkReport]] = [
            few, few, [link(1, "a"), link(2, "c")], [link(2, "b")], [], few,
            [link(1, "a", addresses: ["192.0.2.2/24"]), link(2, "b"), link(3, "d")],
            (0..<1_100).map { link($0, "many") },
            (0..<1_100).map { link($0, $0 % 3 == 0 ? "other" : "many") },
            (0..<1_100).map { link($0, $0 % 3 == 0 && $0 != 300 ? "other" : "many") },
            (0..<1_050).map { link($0, $0 % 3 == 0 && $0 != 600 ? "other" : "many") },
            [link(1, "longer"), link(2, "b"), link(3, "d")], [link(1, "longer"), link(2, "e"), link(3, "d")],
            few,
        ]
        var known = LinkFragments()
        for links in sets {
            var report = CannedReports.wired
            report.links = links
            var line = TextLine()
            var alone = TextLine()
            ReportJSON.write(report, to: &line, knowing: &known)
            ReportJSON.write(report, to: &alone)
            #expect(line.text == alone.text)
            if isKept { known.keepText(of: line) }
        }
    }

    @Test("every byte is written or escaped the same wherever it stands in a text", arguments: 0..<20)
    func escapes(position: Int) throws {
        for byte in UInt8(0)..<128 {
            var bytes = [UInt8](repeating: UInt8(ascii: "x"), count: 20)
            bytes[position] = byte
            var line = TextLine()
            line.append(json: String(decoding: bytes, as: UTF8.self))
            let isPlain = (0x20..<0x7F).contains(byte) && byte != 0x22 && byte != 0x5C
            #expect((line.bytes.count == 22) == isPlain, "\(byte)")
            if isPlain { #expect(Array(line.bytes[1...20]) == bytes) }
        }
    }
}
