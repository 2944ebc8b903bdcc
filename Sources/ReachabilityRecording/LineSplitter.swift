// SPDX-License-Identifier: Apache-2.0

/// Cuts a stream of bytes into lines, whatever pieces it arrives in.
package struct LineSplitter: Sendable {
    private var rest: [UInt8] = []

    package init() {}

    /// Takes a piece in and hands out the lines that it completes, without their line feeds.
    ///
    /// A line never grows beyond what ``RecordingReader`` accepts by more than one piece: one that is too long is
    /// handed out as far as it is there, and the reader complains about it.
    package mutating func split<Failure: Error>(
        _ piece: some Sequence<UInt8>, _ body: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        for byte in piece {
            if byte == UInt8(ascii: "\n") || rest.count > RecordingReader.lineLimit {
                let line = rest
                rest.removeAll(keepingCapacity: true)
                try body(line)
                if byte == UInt8(ascii: "\n") { continue }
            }
            rest.append(byte)
        }
    }

    /// What is left at the end of the stream: a line without a line feed; nil where nothing is left.
    package mutating func finish() -> [UInt8]? {
        guard !rest.isEmpty else { return nil }
        defer { rest = [] }
        return rest
    }
}
