// SPDX-License-Identifier: Apache-2.0

import CZlib
import SessionCore

/// Decodes the content before another sink gets it, and knows whether all of it came.
///
/// libcurl could decode as well, but takes content that ends in the middle of its coding for whole (7.88),
/// and unpacks without bounds while a transfer pauses.
final class DecodingSink: ContentSink {
    private let target: any ContentSink
    private let decoder: OpaquePointer
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    /// Decoded bytes that the target has not taken.
    private var waiting = 0
    /// How many of the next bytes were decoded already: libcurl brings those again that were not taken.
    private var known = 0
    /// Bytes of the content that its target has taken, decoded as often as it was encoded.
    var count: Int64 { (target as? DecodingSink)?.count ?? taken }
    private var taken: Int64 = 0

    /// More layers than this are an attack.
    private static let mostLayers = 5

    /// A target behind the decoders of all codings.
    static func chain(
        _ codings: [ContentCoding], to target: any ContentSink, size: Int
    ) throws(SessionError) -> DecodingSink? {
        guard codings.count <= mostLayers else {
            throw SessionError(
                .cannotDecodeRawData, "the content was encoded \(codings.count) times",
                advice: "the server is broken or hostile")
        }
        var last: DecodingSink?
        for coding in codings {
            last = try DecodingSink(coding, to: last ?? target, size: size)
        }
        return last
    }

    private init(_ coding: ContentCoding, to target: any ContentSink, size: Int) throws(SessionError) {
        if case .known(let number) = coding, czlib_is_memory_short(number) {
            throw SessionError(
                .outOfResources, "there is no memory for the library that decodes \(coding.name)",
                advice: "free memory, or allow more of it (ulimit -v, MemoryMax=)")
        }
        guard case .known(let number) = coding, czlib_can_decode(number) else {
            throw SessionError(
                .cannotDecodeRawData, "the content is encoded in a way that is unknown here: \(coding.name)",
                remedy: .plainContent)
        }
        guard let decoder = czlib_decoder_open(number) else {
            throw SessionError(.outOfResources, "there is no memory to decode the content")
        }
        self.decoder = decoder
        self.target = target
        buffer = .allocate(capacity: size)
    }

    deinit {
        czlib_decoder_close(decoder)
        buffer.deallocate()
    }

    /// What is missing; nil where all codings have come to their end.
    var shortage: SessionError? {
        if czlib_decoder_is_whole(decoder) { return (target as? DecodingSink)?.shortage }
        return SessionError(
            .cannotDecodeRawData, "the content is cut off: it ends in the middle of its encoding",
            advice: "try again; if it happens always, the server or a proxy before it is broken")
    }

    func begin(length: Int64?) throws(SessionError) { try target.begin(length: nil) }

    func consume(_ bytes: UnsafeRawBufferPointer) throws(SessionError) -> SinkAnswer {
        guard try handOn() else { return .full }
        var start = bytes.bindMemory(to: UInt8.self).baseAddress.map { $0 + min(known, bytes.count) }
        var rest = bytes.count - min(known, bytes.count)
        known -= bytes.count - rest
        repeat {
            switch czlib_decode(decoder, &start, &rest, buffer.baseAddress, buffer.count, &waiting) {
            case CZLIB_OK: break
            case CZLIB_OUT_OF_MEMORY:
                throw SessionError(.outOfResources, "there is no memory to decode the content")
            default: throw SessionError(.cannotDecodeRawData, "the content's encoding is broken")
            }
            let isFilled = waiting == buffer.count
            guard try handOn() else {
                known += bytes.count - rest
                return .full
            }
            if rest == 0, !isFilled { return .consumed }
        } while true
    }

    /// Whether the target has taken what was decoded.
    private func handOn() throws(SessionError) -> Bool {
        guard waiting > 0 else { return true }
        let decoded = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: buffer[..<waiting]))
        guard try target.consume(decoded) == .consumed else { return false }
        taken += Int64(waiting)
        waiting = 0
        return true
    }
}

extension ContentCoding {
    fileprivate var name: String {
        switch self {
        case .known(CZLIB_GZIP): "gzip (libz.so.1 is missing)"
        case .known(CZLIB_DEFLATE): "deflate (libz.so.1 is missing)"
        case .known: "br (libbrotlidec.so.1 is missing)"
        case .unknown(let name): "\(TextQuote(name))"
        }
    }
}

/// What a server may have done to the content to make it smaller (RFC 9110 §8.4.1).
enum ContentCoding: Equatable {
    case known(czlib_coding)
    case unknown(String)

    init(name: some Sequence<UInt8>) {
        let name = String(decoding: Array(name), as: UTF8.self).lowercased()
        switch name {
        case "gzip", "x-gzip": self = .known(CZLIB_GZIP)
        case "deflate": self = .known(CZLIB_DEFLATE)
        case "br": self = .known(CZLIB_BROTLI)
        default: self = .unknown(name)
        }
    }

    /// What is offered to servers: what there are libraries for; nil where there is none.
    static let accepted: String? = {
        let codings: [(czlib_coding, String)] = [
            (CZLIB_BROTLI, "br"), (CZLIB_GZIP, "gzip"), (CZLIB_DEFLATE, "deflate"),
        ]
        var line = ""
        for (coding, name) in codings where czlib_can_decode(coding) {
            line += line.isEmpty ? "Accept-Encoding: " : ", "
            line += name
        }
        return line.isEmpty ? nil : line
    }()
}
