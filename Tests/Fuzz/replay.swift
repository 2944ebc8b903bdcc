// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ReachabilityRecording

/// One input of the fuzzer: the bytes of a recording, read and played.
///
/// Whatever they are, the reader refuses them or the machine lives through them. A damaged line is skipped, so that what
/// follows it is tried as well.
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

    // What was read can be written, and then it is read as the same.
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
