// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ReachabilityRecording
import Testing

@Suite("What is recorded is what is read")
struct RecordingRoundTripTests {
    private func written(_ header: RecordingHeader, _ items: [RecordedItem]) -> TextLine {
        var line = TextLine()
        RecordingWriter.write(header, to: &line)
        var writer = RecordingWriter(header)
        for item in items { writer.write(item, to: &line) }
        return line
    }

    private func read(_ bytes: [UInt8]) throws -> (RecordingHeader?, [RecordedItem]) {
        var reader = RecordingReader()
        var splitter = LineSplitter()
        var items: [RecordedItem] = []
        try splitter.split(bytes) { if let item = try reader.read(bytes: $0) { items.append(item) } }
        if let item = try reader.finish() { items.append(item) }
        return (reader.header, items)
    }

    @Test("every item, question, answer and event survives", arguments: 0..<300)
    func everyValueSurvives(seed: Int) throws {
        var generator = RecordingGenerator(seed: UInt64(seed))
        let header = generator.header()
        let items = (0..<20).map { _ in generator.item() }
        let text = written(header, items)
        let (readHeader, readItems) = try read(text.bytes)
        #expect(readHeader == header)
        #expect(readItems.count == items.count)
        for (original, copy) in zip(items, readItems) where original != copy {
            Issue.record("seed \(seed): \(original) came back as \(copy)")
        }
    }

    @Test("nothing that steers a terminal is in the file", arguments: 0..<50)
    func isHarmlessToLookAt(seed: Int) {
        var generator = RecordingGenerator(seed: UInt64(seed))
        let text = written(generator.header(), (0..<20).map { _ in generator.item() })
        let isHarmless = text.text.unicodeScalars.allSatisfy { scalar in
            scalar == "\n" || (scalar.value >= 0x20 && scalar.properties.generalCategory != .format)
        }
        #expect(isHarmless)
    }

    @Test("an answer that stays the same is written once")
    func sameAnswersAreShort() throws {
        let header = RecordingHeader(start: MonotonicInstant(nanoseconds: 0), wall: WallTime(nanoseconds: 0))
        var snapshot = Snapshot()
        snapshot.add(.links, .links([LinkState(index: 2, name: "eth0"), LinkState(index: 3, name: "wlan0")]))
        let items = (1...2).map {
            RecordedItem.evaluated(
                snapshot, at: MonotonicInstant(nanoseconds: $0 * 1000), took: .microseconds(20))
        }
        let text = written(header, items).text
        #expect(
            text.hasSuffix(
                """
                +0.000001000 evaluated took=0.000020000
                  answer links => links count=2
                    link index=2 name=eth0 flags=0x0 state=unknown type=1
                    link index=3 name=wlan0 flags=0x0 state=unknown type=1
                +0.000002000 evaluated took=0.000020000
                  answer links => same

                """))
        #expect(try read(Array(text.utf8)).1 == items)
    }
}

@Suite("Text of recordings")
struct RecordingTextTests {
    private let header = """
        reach-recording 1
        start wall=2026-01-02T03:04:05.678Z monotonic=1000 sentinels=12.0.0.1

        """

    private func problem(_ text: String) -> String? {
        var reader = RecordingReader()
        do throws(RecordingError) {
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                _ = try reader.read(String(line))
            }
            _ = try reader.finish()
            return nil
        } catch {
            return error.description
        }
    }

    @Test("comments and empty lines may be put in by hand")
    func comments() {
        #expect(
            problem("# a note\n\n" + header + "# unplugged here\n+0.1 event linkRemoved index=3\n\n") == nil)
    }

    @Test(
        "errors name the line and what is wrong",
        arguments: [
            ("", "line 1: the file ends before the recording begins"),
            ("hello", "line 1: this is not a recording: its first line should be 'reach-recording 1'"),
            ("reach-recording 2", "line 1: the recording has version 2; this program reads version 1"),
            ("reach-recording 1\n+0.1 elapsed", "line 2: the line 'start wall=…' is missing"),
            ("H+0.1 event linkExploded", "line 3: there is no event 'linkExploded'"),
            ("Helapsed", "line 3: a line begins with a time like +0.000123, not with 'elapsed'"),
            ("H+0.1 event linkRemoved index=x", "line 3: index: 'x' is not a number in range"),
            ("H+0.1 event linkRemoved", "line 3: index= is missing"),
            ("H+0.1 event linkRemoved index=3 index=4", "line 3: index is given twice"),
            ("H+0.1 event linkRemoved index=3 flavour=4", "line 3: what does 'flavour=4' mean here?"),
            ("H  event overrun", "line 3: an indented line belongs to an item, and there is none above"),
            ("H+0.1 elapsed\n  event overrun", "line 4: 'event' does not belong to the item above"),
            ("H+0.1 evaluated\n  answer links", "line 4: '=>' is missing"),
            (
                "H+0.1 evaluated\n  answer links => same",
                "line 4: 'same', but there is no earlier answer to this question"
            ),
            ("H+0.1 evaluated\n  answer links => links count=2", "line 4: only 0 of 2 links are there"),
            (
                "H+0.1 event linkChanged index=3 name=%zz",
                "line 3: name: '%zz' is not escaped as it should be"
            ),
            ("H+99999999999999 elapsed", "line 3: time: '99999999999999' is not a number of seconds"),
        ])
    func errors(text: String, expected: String) {
        let whole = text.hasPrefix("H") ? header + text.dropFirst() : text
        #expect(problem(whole) == expected)
    }

    @Test("a line without end is refused instead of filling the memory")
    func endlessLine() {
        var reader = RecordingReader()
        var splitter = LineSplitter()
        #expect(throws: RecordingError.self) {
            for _ in 0..<100 {
                try splitter.split([UInt8](repeating: 0x61, count: 4096)) { _ = try reader.read(bytes: $0) }
            }
        }
    }

    @Test("bytes that are no text are refused")
    func invalidText() {
        var reader = RecordingReader()
        #expect(throws: RecordingError(line: 1, problem: "the line is not UTF-8 text")) {
            _ = try reader.read(bytes: [0x72, 0xFF, 0xFE])
        }
    }

    @Test("damaged recordings neither crash nor hang", arguments: 0..<200)
    func damaged(seed: Int) {
        var generator = RecordingGenerator(seed: UInt64(seed))
        var line = TextLine()
        let header = generator.header()
        RecordingWriter.write(header, to: &line)
        var writer = RecordingWriter(header)
        for _ in 0..<10 { writer.write(generator.item(), to: &line) }
        var bytes = line.bytes
        for _ in 0..<(1 + generator.below(20)) {
            let position = generator.below(bytes.count)
            switch generator.below(3) {
            case 0: bytes[position] = UInt8(truncatingIfNeeded: generator.next())
            case 1: bytes.remove(at: position)
            default: bytes.insert(bytes[generator.below(bytes.count)], at: position)
            }
        }
        play(bytes)
    }

    private func play(_ bytes: [UInt8]) {
        var reader = RecordingReader()
        // A damaged line is skipped, so that the following ones are read too.
        for line in bytes.split(separator: UInt8(ascii: "\n")) { _ = try? reader.read(bytes: line) }
        guard let header = reader.header else { return }
        var player = RecordingPlayer(header)
        reader = RecordingReader()
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if let item = try? reader.read(bytes: line) { _ = player.play(item) }
        }
        if let item = try? reader.finish() { _ = player.play(item) }
        _ = player.explained()
    }
}
