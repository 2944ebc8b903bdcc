// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// A request's body on its way to libcurl: its reader, and how much of it has been sent.
///
/// It calls no reader: that may be the program's own code, which may end the transfer meanwhile.
struct TransferBody {
    /// Nil where there is none, or it was released.
    private(set) var reader: (any BodyReader)?
    /// Bytes; nil for one of unknown length, or for none.
    private(set) var length: Int64?
    /// Bytes handed to libcurl so far.
    private(set) var sent: Int64 = 0
    /// Whether it is held back: its source had nothing, or it goes too fast.
    var isPaused = false
    private var hasEnded = false

    init() {}

    init(_ body: RequestBody) throws(SessionError) {
        switch body {
        case .data(let data):
            reader = DataReader(data)
            length = Int64(data.count)
        case .file(let path):
            let file = try FileReader(path: path)
            reader = file
            length = file.length
        case .stream(let source):
            let bytes = try source.makeReader()
            length = source.length
            if let length { reader = AnnouncedReader(bytes, length: length) } else { reader = bytes }
        }
    }

    /// Whether the whole of it was handed to libcurl.
    var hasGone: Bool { length.map { sent >= $0 } ?? hasEnded }

    /// Whether nothing is left to send, for instance because there is none.
    var isSent: Bool { reader == nil || hasGone }

    /// Whether a reader stands at its beginning.
    var isUntouched: Bool { reader != nil && sent == 0 }

    mutating func recordSent(_ count: Int) { sent += Int64(count) }

    /// Its reader has no more; throws where that is not what was promised.
    mutating func recordEnd() throws(SessionError) {
        hasEnded = true
        guard let length, sent != length else { return }
        throw SessionError(.requestBodyStreamExhausted, "the body ended after \(sent) of \(length) bytes")
    }

    /// Hands its reader on, where nothing was read.
    mutating func handOver() -> TransferBody {
        var body = self
        body.isPaused = false
        reader = nil
        return body
    }

    /// Releases its reader, unless that can serve another transfer.
    mutating func letGo() { if sent > 0 { reader = nil } }
}
