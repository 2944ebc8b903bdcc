// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Reads one piece after the other; one is open at a time, but for those that were opened beforehand.
///
/// A piece with fewer or more bytes than it announced ends the body with an error.
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
            case .notYet: return filled > 0 ? .bytes(filled) : .notYet
            }
        }
        return filled > 0 ? .bytes(filled) : .end
    }

    func whenReadable(_ callback: @escaping @Sendable () -> Void) { current?.whenReadable(callback) }

    private func open() throws(SessionError) -> any BodyReader {
        if let current { return current }
        let reader =
            if let early = opened.removeValue(forKey: index) { early } else { try pieces[index].makeReader() }
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

/// The bytes of a multipart form, made while they are read.
struct MultipartBody: BodySource {
    let length: Int64?
    let isRewindable: Bool
    private let pieces: [any BodySource]

    init(_ parts: [MultipartPart], _ boundary: MultipartBoundary) {
        var pieces: [any BodySource] = []
        for (index, part) in parts.enumerated() {
            let line = Data("\(index == 0 ? "" : "\r\n")--\(boundary)\r\n".utf8)
            pieces.append(DataBody(line + part.header))
            pieces.append(part.content)
        }
        pieces.append(DataBody(Data("\r\n--\(boundary)--\r\n".utf8)))
        self.pieces = pieces
        isRewindable = pieces.allSatisfy(\.isRewindable)
        length = pieces.reduce(0) { sum, piece in
            guard let sum, let length = piece.length else { return nil }
            let (total, overflow) = sum.addingReportingOverflow(length)
            return overflow ? nil : total
        }
    }

    func makeReader() throws(SessionError) -> any BodyReader {
        var opened: [Int: any BodyReader] = [:]
        for (index, piece) in pieces.enumerated() {
            // Reports a file that is gone before the first byte is sent; its turn opens it again.
            if piece is FileBody { _ = try piece.makeReader() }
            // One that was used before throws here and not in the middle of the body.
            if !piece.isRewindable { opened[index] = try piece.makeReader() }
        }
        return MultipartReader(pieces, opened: opened)
    }
}
