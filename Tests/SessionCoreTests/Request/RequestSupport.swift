// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import Testing

extension SessionRequest {
    /// The body where it is in memory.
    var bodyData: Data? {
        if case .data(let data) = body { data } else { nil }
    }

    /// The body as text where it is in memory.
    var bodyText: String? { bodyData.map { String(decoding: $0, as: UTF8.self) } }
}

/// The error that an action ends with; nil, and a complaint, where it ends well.
func sessionError(
    sourceLocation: SourceLocation = #_sourceLocation, _ action: () throws -> Void
) -> SessionError? {
    do {
        try action()
        Issue.record("no error", sourceLocation: sourceLocation)
        return nil
    } catch {
        return error as? SessionError
    }
}

/// Reads a body to its end with a buffer of this size.
func readAll(_ source: any BodySource, buffer size: Int = 4096) throws -> [UInt8] {
    try readAll(try source.makeReader(), buffer: size)
}

/// Reads what is left of a body with a buffer of this size.
func readAll(_ reader: any BodyReader, buffer size: Int = 4096) throws -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
    defer { buffer.deallocate() }
    var bytes: [UInt8] = []
    while true {
        switch try reader.read(into: buffer) {
        case .bytes(let count):
            #expect(count > 0 && count <= size)
            bytes += buffer[..<count]
        case .end: return bytes
        case .notYet: throw SessionError(.timedOut, "the body has nothing yet")
        }
    }
}
