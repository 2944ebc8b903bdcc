// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// Reads a source that has announced its length, and refuses bytes beyond: the server would get a part of
/// the body and take it for the whole.
///
/// libcurl does not ask for the end of a body of known length, so the source is asked with its last bytes.
final class AnnouncedReader: BodyReader {
    private let reader: any BodyReader
    private let length: Int64
    private var count: Int64 = 0

    init(_ reader: any BodyReader, length: Int64) {
        self.reader = reader
        self.length = length
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SessionError) -> BodyRead {
        let read = try reader.read(into: buffer)
        guard case .bytes(let more) = read else { return read }
        count += Int64(more)
        if count == length { try checkEnd() }
        guard count <= length else { throw tooLong }
        return read
    }

    func whenReadable(_ callback: @escaping @Sendable () -> Void) { reader.whenReadable(callback) }

    /// A source that has nothing yet is not waited for.
    private func checkEnd() throws(SessionError) {
        let rest = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 16)
        defer { rest.deallocate() }
        if case .bytes(let more) = try reader.read(into: rest), more > 0 { throw tooLong }
    }

    private var tooLong: SessionError {
        SessionError(
            .requestBodyStreamExhausted, "the body has more than the \(length) bytes that it announced",
            advice: "declare the length that the source has, or none")
    }
}
