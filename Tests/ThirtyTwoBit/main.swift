// SPDX-License-Identifier: Apache-2.0
// Replays the recording on standard input, and then copies of it with changed bytes; for `run` beside this
// file. Compiled as Embedded Swift, which has no Foundation and no swift-testing.
import ReachabilityCore
import ReachabilityRecording

@_extern(c, "read")
func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int

func everything() -> [UInt8] {
    var content: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = piece.withUnsafeMutableBytes { systemRead(0, $0.baseAddress, $0.count) }
        guard count > 0 else { return content }
        content += piece.prefix(count)
    }
}

/// A short number for a text, to compare long outputs by (FNV-1a).
struct Digest {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ text: String) {
        for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
}

/// The lines of a recording's replay: each update with its time, and how it ended.
func replay(_ content: [UInt8], _ line: (String) -> Void) {
    var splitter = LineSplitter()
    var reader = RecordingReader()
    var player: RecordingPlayer?
    func play(_ item: RecordedItem?) {
        guard let item, let header = reader.header else { return }
        if player == nil { player = RecordingPlayer(header) }
        guard let moment = player?.play(item) else { return }
        let (update, path) = (moment.update, moment.update.path)
        line(
            "\(moment.wall.exactText) \(update.status.rawValue) \(path.isOnline) "
                + "\(path.interface ?? "-") \(path.generation) \(path.reason.sentence)")
        for link in update.links { line("  \(link.name) \(link.index) \(link.reason.sentence)") }
    }
    do throws(RecordingError) {
        var complete: [[UInt8]] = []
        splitter.split(content) { complete.append($0) }
        for text in complete { play(try reader.read(bytes: text)) }
        if let text = splitter.finish() { play(try reader.read(bytes: text)) }
        play(try reader.finish())
    } catch {
        line("line \(error.line): \(error.problem)")
    }
}

@main struct Main {
    static func main() {
        let content = everything()
        replay(content) { print($0) }
        // Damaged recordings: numbers that are too long, lines that end early, bytes of other characters.
        var random: UInt64 = 1
        func next(_ limit: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((random >> 33) % UInt64(limit))
        }
        for copy in 0..<100 {
            var changed = content
            for _ in 0...next(4) {
                let index = next(changed.count)
                switch next(3) {
                case 0: changed[index] = UInt8(next(256))
                case 1: changed.insert(contentsOf: [UInt8](repeating: 0x39, count: next(20)), at: index)
                default: changed.removeSubrange(index..<min(changed.count, index + next(6)))
                }
            }
            var digest = Digest()
            replay(changed) { digest.add($0) }
            print("damaged copy \(copy): \(digest.value)")
        }
        print("bits of Int: \(Int.bitWidth)")
    }
}
