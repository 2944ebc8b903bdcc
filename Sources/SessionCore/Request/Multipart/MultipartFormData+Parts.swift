// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import HTTPTypes

extension MultipartFormData {
    /// Adds a field of text.
    ///
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` where ``textEncoding`` lacks a character.
    public mutating func append(_ text: String, name: String) throws(SessionError) {
        try append(try textEncoding.data(text), name: name)
    }

    /// Adds bytes as a field: a name, no type.
    ///
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` where ``textEncoding`` lacks a character.
    public mutating func append(_ data: Data, name: String) throws(SessionError) {
        try add([("Content-Disposition", Self.disposition(name))], .data(data))
    }

    /// Adds bytes as a file.
    ///
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` where ``textEncoding`` lacks a character.
    public mutating func append(
        _ data: Data, name: String, fileName: String, mimeType: String
    ) throws(SessionError) {
        try add(Self.fields(name, fileName, mimeType), .data(data))
    }

    /// Adds a file, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - path: where it is; a regular file.
    ///   - fileName: the name that the server gets; nil for the path's last component.
    ///   - mimeType: its type; nil for ``MediaType/of(fileName:)`` of that name.
    /// - Throws: ``SessionError/Code/badURL`` where it cannot be read.
    public mutating func appendFile(
        _ path: String, name: String, fileName: String? = nil, mimeType: String? = nil
    ) throws(SessionError) {
        let last = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] }
        let fileName = fileName ?? String(last ?? path[...])
        let mimeType = mimeType ?? MediaType.of(fileName: fileName)
        try add(Self.fields(name, fileName, mimeType), .file(path: path))
    }

    /// Adds the file of a `file` URL; see ``appendFile(_:name:fileName:mimeType:)-(String,_,_,_)``.
    ///
    /// - Throws: ``SessionError/Code/badURL`` where it is no `file` URL or the file cannot be read.
    public mutating func appendFile(
        _ url: URL, name: String, fileName: String? = nil, mimeType: String? = nil
    ) throws(SessionError) {
        guard url.isFileURL else {
            throw SessionError(
                .badURL, "Expected URL to be a file URL", domain: .requestSerialization, failingURL: url)
        }
        do throws(SessionError) {
            try appendFile(
                url.path(percentEncoded: false), name: name, fileName: fileName, mimeType: mimeType)
        } catch {
            throw error.with(failingURL: url)
        }
    }

    /// Adds bytes from elsewhere.
    ///
    /// - Parameters:
    ///   - source: where they come from; a source of unknown length makes the whole body one (sent chunked).
    ///   - length: how many bytes it has, where the source itself does not know; one that has fewer or more
    ///     fails the upload.
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` where ``textEncoding`` lacks a character.
    public mutating func append(
        _ source: any BodySource, length: Int64? = nil, name: String, fileName: String, mimeType: String
    ) throws(SessionError) {
        let content = length.map { DeclaredBody(source: source, declared: $0) } ?? source
        try add(Self.fields(name, fileName, mimeType), .stream(content))
    }

    /// Adds a part with these header fields and no others.
    ///
    /// - Throws: ``SessionError/Code/badURL`` where the content is a file that cannot be read.
    public mutating func append(_ content: RequestBody, headerFields: HTTPFields) throws(SessionError) {
        try add(headerFields.map { ($0.name.rawName, $0.value) }, content)
    }

    private static func fields(
        _ name: String, _ fileName: String, _ mimeType: String
    ) -> [(name: String, value: String)] {
        [
            ("Content-Disposition", "\(disposition(name)); filename=\"\(escaped(fileName, quote: true))\""),
            ("Content-Type", escaped(mimeType, quote: false)),
        ]
    }

    private static func disposition(_ name: String) -> String {
        "form-data; name=\"\(escaped(name, quote: true))\""
    }

    /// What would end the quotation or the line is escaped as browsers do (WHATWG HTML §4.10.21.8).
    private static func escaped(_ text: String, quote: Bool) -> String {
        let special: (Unicode.Scalar) -> Bool = { $0 == "\r" || $0 == "\n" || (quote && $0 == "\"") }
        guard text.unicodeScalars.contains(where: special) else { return text }
        return text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\r": escaped += "%0D"
            case "\n": escaped += "%0A"
            case "\"" where quote: escaped += "%22"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}

/// A source whose length the caller knows.
private struct DeclaredBody: BodySource {
    let source: any BodySource
    let declared: Int64

    var length: Int64? { declared }
    var isRewindable: Bool { source.isRewindable }

    func makeReader() throws(SessionError) -> any BodyReader { try source.makeReader() }
}
