// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ReachabilityRecording
import Testing

/// Recordings whose fields and lines are changed, the same ones each time: bytes that are changed are mostly
/// refused.
struct ChangedFieldsTests {
    private static let values = [
        "0", "-1", "33", "129", "65536", "4294967296", "18446744073709551615", "0xffffffff", "1e9", "",
        "same",
        "none", "0.0.0.0", "::", "fe80::1", "::ffff:192.0.2.1", "UP,RUNNING", "%20", "%ff", "%00",
    ]

    private func written(_ header: RecordingHeader, _ items: [RecordedItem]) -> [String] {
        var text = TextLine()
        RecordingWriter.write(header, to: &text)
        var writer = RecordingWriter(header)
        for item in items { writer.write(item, to: &text) }
        return text.text.split(separator: "\n").map { String($0) }
    }

    /// What is read of it; a damaged line is skipped, so that what follows it is tried as well.
    private func read(_ lines: [String]) -> (header: RecordingHeader?, items: [RecordedItem]) {
        var reader = RecordingReader()
        var items = lines.compactMap { try? reader.read($0) }
        if let item = try? reader.finish() { items.append(item) }
        return (reader.header, items)
    }

    private func change(_ lines: inout [String], _ generator: inout RecordingGenerator) {
        // Never the version.
        let index = 1 + generator.below(lines.count - 1)
        let other = lines[1 + generator.below(lines.count - 1)]
        switch generator.below(8) {
        case 0 where lines.count > 2: lines.remove(at: index)
        case 1: lines.insert(other, at: index)
        default:
            var words = lines[index].split(separator: " ", omittingEmptySubsequences: false).map {
                String($0)
            }
            let word = generator.below(words.count)
            let key = words[word].prefix { $0 != "=" }
            switch generator.below(4) {
            case 0: words.remove(at: word)
            case 1: words.insert(words[word], at: word)
            default: words[word] = "\(key)=\(Self.values[generator.below(Self.values.count)])"
            }
            lines[index] = words.joined(separator: " ")
        }
    }

    @Test(
        "FLD-075 a recording with changed fields is refused or played, and what was read is the same when it is written and read",
        arguments: 0..<300)
    func changed(seed: UInt64) {
        var generator = RecordingGenerator(seed: seed)
        let header = generator.header()
        var lines = written(header, (0..<10).map { _ in generator.item() })
        for _ in 0...generator.below(4) { change(&lines, &generator) }
        let (found, items) = read(lines)
        guard let found else { return }
        var player = RecordingPlayer(found)
        for item in items { _ = player.play(item) }
        _ = player.explained()
        #expect(read(written(found, items)).items == items)
    }
}
