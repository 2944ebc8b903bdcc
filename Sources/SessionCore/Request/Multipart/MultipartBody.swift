// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

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
            // A file that is gone is told before the first byte is sent; it is opened again when its turn comes.
            if piece is FileBody { _ = try piece.makeReader() }
            // One that was used before throws here and not in the middle of the body.
            if !piece.isRewindable { opened[index] = try piece.makeReader() }
        }
        return MultipartReader(pieces, opened: opened)
    }
}
