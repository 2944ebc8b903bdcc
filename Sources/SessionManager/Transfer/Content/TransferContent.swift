// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// The content of a response on its way to a sink, through a decoder where it is encoded.
///
/// It calls no sink: that may run code which ends the transfer meanwhile.
struct TransferContent {
    /// Gets the content as it comes; nil until the head that counts has come, and after the end.
    private(set) var sink: (any ContentSink)?
    /// Stands before the destination where the content is encoded.
    private var decoder: DecodingSink?
    /// Bytes so far, decoded.
    private(set) var count: Int64 = 0
    /// Whether it is held back: its sink was full, or it comes too fast.
    var isPaused = false

    /// What is missing of encoded content; nil where all of it has come.
    var shortage: SessionError? { decoder?.shortage }

    /// Whether all of it has come, where the server has told its length.
    func isWhole(_ length: Int64?) -> Bool {
        guard let length, sink != nil else { return false }
        return decoder.map { $0.shortage == nil } ?? (count == length)
    }

    /// Determines where the content goes; `isBulk` where much is expected, which is worth a big buffer.
    mutating func open(
        _ target: any ContentSink, _ codings: [ContentCoding], isBulk: Bool
    ) throws(SessionError) {
        decoder = codings.isEmpty ? nil : try .chain(codings, to: target, size: isBulk ? 64 << 10 : 16 << 10)
        sink = decoder ?? target
    }

    /// The sink has consumed bytes as they came.
    mutating func consumed(_ bytes: Int) {
        count = decoder?.count ?? (count + Int64(bytes))
        isPaused = false
    }

    /// Leaves out the rest of content that cannot be decoded; false where it is not encoded.
    mutating func discardRest() -> Bool {
        guard decoder.take() != nil else { return false }
        sink = DiscardingSink(limit: .max)
        return true
    }

    /// Releases the sink.
    mutating func close() {
        sink = nil
        decoder = nil
    }
}
