// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes

/// Everything but closures: a serializer that is read has no query block.
extension HTTPRequestSerializer: Codable {
    private enum CodingKeys: CodingKey {
        case headerFields, options, methodsEncodingParametersInURI, textEncoding, queryString
    }

    /// Reads what is there; the rest has its default.
    ///
    /// - Throws: `DecodingError` where a method or header field is none.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let fields = try values.decodeIfPresent([CodedField].self, forKey: .headerFields)
        self.init(headerFields: fields.map { HTTPFields($0.map(\.field)) } ?? DefaultHeaderFields.current)
        options = try values.decodeIfPresent(RequestOptionChanges.self, forKey: .options) ?? options
        if let names = try values.decodeIfPresent([String].self, forKey: .methodsEncodingParametersInURI) {
            methodsEncodingParametersInURI = Set(
                try names.map { name in
                    guard let method = HTTPRequest.Method(rawValue: name) else {
                        throw DecodingError.dataCorruptedError(
                            forKey: .methodsEncodingParametersInURI, in: values,
                            debugDescription: "\(TextQuote(name)) is no method")
                    }
                    return method
                })
        }
        textEncoding =
            try values.decodeIfPresent(UInt.self, forKey: .textEncoding)
            .map(String.Encoding.init(rawValue:)) ?? textEncoding
        queryStringEncoder =
            try values.decodeIfPresent(QueryStringEncoder.self, forKey: .queryString) ?? queryStringEncoder
    }

    /// Writes header fields, options, methods, text encoding and the options of the query.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(headerFields.map(CodedField.init), forKey: .headerFields)
        try values.encode(options, forKey: .options)
        try values.encode(
            methodsEncodingParametersInURI.map(\.rawValue).sorted(), forKey: .methodsEncodingParametersInURI)
        try values.encode(textEncoding.rawValue, forKey: .textEncoding)
        try values.encode(queryStringEncoder, forKey: .queryString)
    }
}

/// A header field as `[name, value]`: order and repeated names are kept.
private struct CodedField: Codable {
    let field: HTTPField

    init(_ field: HTTPField) { self.field = field }

    init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        let name = try values.decode(String.self)
        let value = try values.decode(String.self)
        guard let fieldName = HTTPField.Name(name), HTTPField.isValidValue(value) else {
            throw DecodingError.dataCorruptedError(
                in: values,
                debugDescription: "\(TextQuote(name)) is no header field or has a value that is none")
        }
        field = HTTPField(name: fieldName, value: value)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.unkeyedContainer()
        try values.encode(field.name.rawName)
        try values.encode(field.value)
    }
}
