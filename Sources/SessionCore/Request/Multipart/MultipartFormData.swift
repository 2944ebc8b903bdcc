// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// A form of several parts (RFC 7578): fields, data, files and streams, in the order in which they were added.
///
/// Files are opened when their turn comes and never held in memory. A value: adding to a copy does not touch the original.
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
        parts.append(MultipartPart(header: try header(fields), content: source))
    }

    private func header(_ fields: [(name: String, value: String)]) throws(SessionError) -> Data {
        var lines = ""
        for field in fields { lines += "\(field.name): \(field.value)\r\n" }
        return try textEncoding.data(lines + "\r\n")
    }

    /// Puts parameters before all other parts, flattened and sorted like a query but not escaped.
    mutating func prepend(
        _ parameters: ParameterValue, _ encoder: QueryStringEncoder
    ) throws(SessionError) {
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

    mutating func take(name: borrowing [UInt8], value: ParameterValue) throws(SessionError) {
        let text = String(decoding: copy name, as: UTF8.self)
        switch value {
        case .data(let data): try form.append(data, name: text)
        case .null where encoder.options.nulls == .dropKey: return
        case .null: try form.append(encoder.options.nulls == .literal ? "null" : "", name: text)
        default: try form.append(try encoder.requiredText(value, name: name), name: text)
        }
    }
}
