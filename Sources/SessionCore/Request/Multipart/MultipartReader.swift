// SPDX-License-Identifier: Apache-2.0

/// Reads one piece after the other; one is open at a time, but for those that were opened beforehand.
///
/// A piece that has fewer or more bytes than it said ends the body with an error, so that what is sent is never short and never cut.
final class MultipartReader: BodyReader {
    private let pieces: [any BodySource]
    private var opened: [Int: any BodyReader]
    private var index = 0
    private var current: (any BodyReader)?
    private var delivered: Int64 = 0

    init(_ pieces: [any BodySource], opened: [Int: any BodyReader]) {
        self.pieces = pieces
        self.opened = opened
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SessionError) -> BodyRead {
        var filled = 0
        while filled < buffer.count, index < pieces.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            switch try open().read(into: rest) {
            case .bytes(let count):
                filled += count
                delivered += Int64(count)
                if let length = pieces[index].length, delivered > length { throw wrong(length) }
            case .end:
                if let length = pieces[index].length, delivered != length { throw wrong(length) }
                advance()
            case .notYet:
                return filled > 0 ? .bytes(filled) : .notYet
            }
        }
        return filled > 0 ? .bytes(filled) : .end
    }

    func whenReadable(_ callback: @escaping @Sendable () -> Void) { current?.whenReadable(callback) }

    private func open() throws(SessionError) -> any BodyReader {
        if let current { return current }
        if let reader = opened.removeValue(forKey: index) {
            current = reader
            return reader
        }
        let reader = try pieces[index].makeReader()
        current = reader
        return reader
    }

    private func advance() {
        current = nil
        delivered = 0
        index += 1
    }

    private func wrong(_ length: Int64) -> SessionError {
        SessionError(
            .requestBodyStreamExhausted,
            "a part of the form has \(delivered > length ? "more" : "only \(delivered)") of \(length) announced bytes",
            advice: "declare the length that the stream has, or none")
    }
}
