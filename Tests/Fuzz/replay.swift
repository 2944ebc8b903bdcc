// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ReachabilityRecording

/// One input of the fuzzer: the bytes of a recording, read and played.
///
/// Any input is refused by the reader or played by the state machine. A damaged line is skipped, so that the
/// lines after it are tried as well.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzReplay(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    var splitter = LineSplitter()
    var reader = RecordingReader()
    var items: [RecordedItem] = []
    splitter.split(bytes) { line in
        if let item = try? reader.read(bytes: line) { items.append(item) }
    }
    if let line = splitter.finish(), let item = try? reader.read(bytes: line) { items.append(item) }
    if let item = try? reader.finish() { items.append(item) }
    guard let header = reader.header else { return 0 }

    var player = RecordingPlayer(header)
    for item in items { _ = player.play(item) }
    _ = player.explained()

    // A recording that was read survives being written and read again.
    var text = TextLine()
    RecordingWriter.write(header, to: &text)
    var writer = RecordingWriter(header)
    for item in items { writer.write(item, to: &text) }
    var again = RecordingReader()
    var copies: [RecordedItem] = []
    splitter.split(text.bytes) { line in
        guard let read = try? again.read(bytes: line) else { return }
        copies.append(read)
    }
    if let item = try? again.finish() { copies.append(item) }
    precondition(copies == items, "a recording changed when it was written and read again")
    return 0
}

// MARK: Mutation

/// The fuzzer's own mutation, of bytes.
@_silgen_name("LLVMFuzzerMutate")
private func mutateBytes(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ room: Int) -> Int

/// Changes fields and the order of lines of a recording, since most changed bytes would make the reader
/// refuse the first damaged line.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutateRecording(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ room: Int, _ seed: UInt32)
    -> Int
{
    var random = Random(state: UInt64(seed))
    var lines = UnsafeBufferPointer(start: data, count: size)
        .split(separator: 10, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    guard lines.count > headCount, random.below(8) > 0 else { return mutateBytes(data, size, room) }
    for _ in 0...random.below(3) { change(&lines, &random) }
    let bytes = Array(lines.joined(separator: "\n").utf8)
    guard bytes.count <= room else { return size }
    for (index, byte) in bytes.enumerated() { data[index] = byte }
    return bytes.count
}

/// The version, the start and the timing.
private let headCount = 3

private struct Random {
    var state: UInt64

    /// SplitMix64.
    mutating func below(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((value ^ value >> 31) % UInt64(max(bound, 1)))
    }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }
}

private func change(_ lines: inout [String], _ random: inout Random) {
    // Sometimes the head, but never the version.
    let first = random.below(16) == 0 ? 1 : headCount
    let line = first + random.below(lines.count - first)
    switch random.below(8) {
    case 0: lines.remove(at: line)
    case 1: lines.insert(lines[line], at: first + random.below(lines.count - first))
    case 2: lines.swapAt(line, first + random.below(lines.count - first))
    default: lines[line] = changed(lines[line], among: lines, &random)
    }
    // At least one line remains to be changed.
    if lines.count <= headCount { lines.append("") }
}

/// The line with a word less, doubled, from another place, or with another value.
private func changed(_ line: String, among lines: [String], _ random: inout Random) -> String {
    var words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    let index = random.below(words.count)
    let others = random.pick(lines).split(separator: " ").map(String.init)
    switch random.below(6) {
    case 0: words.remove(at: index)
    case 1: words.insert(words[index], at: index)
    case 2 where !others.isEmpty: words.insert(random.pick(others), at: index)
    case 3 where !others.isEmpty: words[index] = random.pick(others)
    default: words[index] = value(words[index], others, &random)
    }
    return words.joined(separator: " ")
}

private let values = [
    "0", "1", "-1", "31", "32", "33", "128", "129", "255", "65535", "65536", "2147483647", "4294967295",
    "4294967296",
    "9223372036854775807", "18446744073709551615", "0x0", "0xffffffff", "0.000000001", "1e9", "", "same",
    "none",
    "0.0.0.0", "255.255.255.255", "192.0.2.1", "169.254.0.1", "::", "::1", "fe80::1", "2001:db8::1",
    "ff02::fb",
    "::ffff:192.0.2.1", "UP", "UP,RUNNING,LOWER_UP", "%20", "%ff", "%00",
]

/// A field with another value: one of the same field elsewhere, or a typical edge case.
private func value(_ word: String, _ others: [String], _ random: inout Random) -> String {
    guard let equals = word.firstIndex(of: "=") else { return random.pick(values) }
    let key = word[...equals]
    if let other = others.first(where: { $0.hasPrefix(key) }), random.below(2) == 0 { return other }
    return key + random.pick(values)
}
