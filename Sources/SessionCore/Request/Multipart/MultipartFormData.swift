// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// A form of several parts (RFC 7578), fields, data, files and streams, in the order they were added.
///
/// Files are opened when their turn comes and never held in memory.
public struct MultipartFormData: Sendable {
    /// The line between the parts.
    public let boundary: MultipartBoundary
    /// The encoding of the text in fields and headers; UTF-8.
    public let textEncoding: String.Encoding
    /// How fast the body may be read; nil for as fast as it is sent.
    public var throttle: BodyThrottle?
    /// The clock of ``throttle``.
    public var scheduler: any BodyScheduler = TaskBodyScheduler()
    private(set) var parts: [MultipartPart] = []

    /// A form without parts.
    public init(boundary: MultipartBoundary = MultipartBoundary(), textEncoding: String.Encoding = .utf8) {
        self.boundary = boundary
        self.textEncoding = textEncoding
    }

    /// Whether there is no part.
    public var isEmpty: Bool { parts.isEmpty }

    /// The value of `Content-Type`.
    public var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// The bytes of the whole body; nil where a part's source does not know how many it has.
    public var length: Int64? { MultipartBody(parts, boundary).length }

    /// The body; can be read again unless a part's source cannot.
    public func makeBody() -> any BodySource {
        let body = MultipartBody(parts, boundary)
        guard let throttle else { return body }
        return ThrottledBody(body, throttle, scheduler: scheduler)
    }

    mutating func add(_ fields: [(name: String, value: String)], _ content: RequestBody) throws(SessionError)
    {
        let source: any BodySource =
            switch content {
            case .data(let data): DataBody(data)
            case .file(let path): try FileBody(path: path)
            case .stream(let source): source
            }
        let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        parts.append(MultipartPart(header: try textEncoding.data(lines + "\r\n"), content: source))
    }

    /// Puts parameters before all other parts, flattened and sorted like a query but not escaped.
    mutating func prepend(_ parameters: ParameterValue, _ encoder: QueryStringEncoder) throws(SessionError) {
        let sink = MultipartSink(form: MultipartFormData(textEncoding: textEncoding), encoder: encoder)
        var flattener = ParameterFlattener(encoder, into: sink)
        try flattener.flatten(parameters)
        parts = flattener.sink.form.parts + parts
    }
}

/// A part: its header block with the empty line at the end, and its content.
struct MultipartPart: Sendable {
    let header: Data
    let content: any BodySource
}

private struct MultipartSink: ParameterSink {
    var form: MultipartFormData
    let encoder: QueryStringEncoder

    mutating func append(name: borrowing [UInt8], value: ParameterValue) throws(SessionError) {
        let text = String(decoding: copy name, as: UTF8.self)
        switch value {
        case .data(let data): try form.append(data, name: text)
        case .null where encoder.options.nulls == .dropKey: return
        case .null: try form.append(encoder.options.nulls == .literal ? "null" : "", name: text)
        default: try form.append(try encoder.requiredText(value, name: name), name: text)
        }
    }
}

/// Media types by the extension of a file's name, those that devices send.
public enum MediaType {
    /// What nothing is known of.
    public static let octetStream = "application/octet-stream"

    /// The type of a file by its name; ``octetStream`` where the extension is not known.
    public static func of(fileName: String) -> String {
        guard let dot = fileName.utf8.lastIndex(of: UInt8(ascii: ".")) else { return octetStream }
        return table[fileName[dot...].dropFirst().lowercased()] ?? octetStream
    }

    private static let table: [String: String] = [
        "7z": "application/x-7z-compressed", "aac": "audio/aac", "apng": "image/apng",
        "avi": "video/x-msvideo", "avif": "image/avif", "bin": octetStream, "bmp": "image/bmp",
        "bz2": "application/x-bzip2", "cbor": "application/cbor", "cer": "application/x-x509-ca-cert",
        "cfg": "text/plain", "conf": "text/plain", "crt": "application/x-x509-ca-cert", "css": "text/css",
        "csv": "text/csv", "der": "application/x-x509-ca-cert", "flac": "audio/flac", "gif": "image/gif",
        "gz": "application/gzip", "heic": "image/heic", "htm": "text/html", "html": "text/html",
        "ico": "image/vnd.microsoft.icon", "ics": "text/calendar", "ini": "text/plain", "jpeg": "image/jpeg",
        "jpg": "image/jpeg", "js": "text/javascript", "json": "application/json",
        "jsonl": "application/jsonl", "jxl": "image/jxl", "log": "text/plain", "m4a": "audio/mp4",
        "m4v": "video/mp4", "md": "text/markdown", "mjs": "text/javascript", "mkv": "video/x-matroska",
        "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg",
        "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg", "opus": "audio/ogg",
        "p12": "application/x-pkcs12", "pcap": "application/vnd.tcpdump.pcap", "pdf": "application/pdf",
        "pem": "application/x-pem-file", "plist": "application/x-plist", "png": "image/png",
        "ppm": "image/x-portable-pixmap", "rtf": "application/rtf", "sqlite": "application/vnd.sqlite3",
        "svg": "image/svg+xml", "tar": "application/x-tar", "tif": "image/tiff", "tiff": "image/tiff",
        "toml": "application/toml", "ts": "video/mp2t", "tsv": "text/tab-separated-values",
        "txt": "text/plain", "wasm": "application/wasm", "wav": "audio/wav", "webm": "video/webm",
        "webp": "image/webp", "xml": "application/xml", "xz": "application/x-xz", "yaml": "application/yaml",
        "yml": "application/yaml", "zip": "application/zip", "zst": "application/zstd",
    ]
}

/// The line between the parts of a multipart body (RFC 2046 §5.1.1): `Boundary+` and 16 hexadecimal digits.
public struct MultipartBoundary: Sendable, Hashable, CustomStringConvertible {
    /// The boundary without the hyphens before it.
    public let description: String

    /// A random boundary, another one for each form: with 64 random bits, none that occurs in the content.
    public init() { self.init(UInt64.random(in: 0...UInt64.max)) }

    /// The boundary with these digits, for tests and reproducible bodies.
    public init(_ number: UInt64) {
        let digits = String(number, radix: 16, uppercase: true)
        description = "Boundary+" + String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
