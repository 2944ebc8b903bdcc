// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Writes parameters as a query or an `application/x-www-form-urlencoded` body.
///
/// The closures go before the options of the same purpose. They may be called on any thread.
public struct QueryStringEncoder: Sendable {
    /// What can be chosen without code; the part that is encoded with a configuration.
    public var options: QueryStringOptions
    /// Makes the name of an array's element from the array's unescaped name, nesting included, and the index.
    public var arrayKey: (@Sendable (_ name: String, _ index: Int) -> String)?
    /// Makes the name to write from one component of a name.
    public var keyTransform: (@Sendable (String) -> String)?
    /// Makes text from bytes.
    public var dataText: (@Sendable (Data) -> String)?
    /// Makes text from a point in time.
    public var dateText: (@Sendable (Date) -> String)?

    /// An encoder.
    public init(options: QueryStringOptions = QueryStringOptions()) { self.options = options }

    /// The pairs, escaped and joined by `&`; empty where there are none.
    ///
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` where the parameters are no dictionary, or a
    ///   number or date is none that can be written (not finite).
    public func encode(_ parameters: ParameterValue) throws(SessionError) -> String {
        String(decoding: try bytes(parameters), as: UTF8.self)
    }

    func bytes(_ parameters: ParameterValue) throws(SessionError) -> [UInt8] {
        var flattener = ParameterFlattener(self, into: QueryStringSink(encoder: self))
        try flattener.flatten(parameters)
        return flattener.sink.bytes
    }

    /// One component of a name as it is written.
    func name(_ key: String) -> String {
        if let keyTransform { return keyTransform(key) }
        return options.keys == .unchanged ? key : options.keys.apply(to: key)
    }

    /// A scalar as text; nil for null, for what is no scalar, and for unwritable numbers and dates.
    func text(_ value: ParameterValue) -> String? {
        switch value {
        case .null, .array, .set, .dictionary: nil
        case .bool(let value): options.bools == .numeric ? (value ? "1" : "0") : (value ? "true" : "false")
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .number(let value): ParameterNumber.text(value)
        case .string(let value): value
        case .data(let value): dataText?(value) ?? options.data.text(value)
        case .date(let value): dateText?(value) ?? options.dates.text(value)
        }
    }

    /// A scalar as text; throws ``SessionError/Code/cannotDecodeContentData`` where it has none.
    func requiredText(_ value: ParameterValue, name: borrowing [UInt8]) throws(SessionError) -> String {
        guard let text = text(value) else {
            throw SessionError(
                .cannotDecodeContentData,
                "the value of \(TextQuote(String(decoding: copy name, as: UTF8.self))) is not finite and cannot be written",
                domain: .requestSerialization)
        }
        return text
    }
}

/// Only the options: closures cannot be written down.
extension QueryStringEncoder: Codable {
    /// An encoder with the options that were written and without closures.
    public init(from decoder: any Decoder) throws { options = try QueryStringOptions(from: decoder) }

    /// Writes the options.
    public func encode(to encoder: any Encoder) throws { try options.encode(to: encoder) }
}

private struct QueryStringSink: ParameterSink {
    let encoder: QueryStringEncoder
    var bytes: [UInt8] = []
    var isFirst = true
    mutating func append(name: borrowing [UInt8], value: ParameterValue) throws(SessionError) {
        if case .null = value {
            switch encoder.options.nulls {
            case .nameAlone: begin(name)
            case .dropKey: break
            case .dropValue: write(name, "")
            case .literal: write(name, "null")
            }
            return
        }
        write(name, try encoder.requiredText(value, name: name))
    }

    private mutating func write(_ name: borrowing [UInt8], _ text: String) {
        begin(name)
        bytes.append(UInt8(ascii: "="))
        PercentEscaping.append(text, to: &bytes, spaceAsPlus: encoder.options.spaces == .plus)
    }

    private mutating func begin(_ name: borrowing [UInt8]) {
        if !isFirst { bytes.append(UInt8(ascii: "&")) }
        isFirst = false
        PercentEscaping.append(name.span, to: &bytes, spaceAsPlus: encoder.options.spaces == .plus)
    }
}

extension URL {
    /// The URL with something more in its query, before the fragment.
    ///
    /// - Throws: ``SessionError/Code/badURL`` where the query has characters that no URL has.
    package func appending(query: String) throws(SessionError) -> URL {
        let text = absoluteString
        let end = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        var longer = String(text[..<end])
        if longer.utf8.contains(UInt8(ascii: "?")) {
            let isOpen = longer.utf8.last == UInt8(ascii: "?") || longer.utf8.last == UInt8(ascii: "&")
            longer += isOpen ? "" : "&"
        } else {
            longer += "?"
        }
        longer += query
        longer += text[end...]
        guard let url = URL(string: longer, encodingInvalidCharacters: false) else {
            throw SessionError(
                .badURL, "\(TextQuote(query)) cannot be the query of a URL",
                advice: "escape what RFC 3986 does not allow there", domain: .requestSerialization,
                failingURL: self)
        }
        return url
    }
}
