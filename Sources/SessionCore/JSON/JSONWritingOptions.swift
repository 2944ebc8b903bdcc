// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// How parameters are written as JSON.
///
/// Names are sorted: the same parameters always make the same bytes.
public struct JSONWritingOptions: Sendable, Hashable {
    /// Whether the text has line breaks and two spaces for each level; false.
    public var isPretty = false
    /// How dates are written: ISO 8601; nil refuses them.
    public var dates: ParameterDateStyle? = .iso8601
    /// How data are written; nil refuses them, as JSON has none.
    public var data: ParameterDataStyle?

    /// The defaults.
    public init() {}

    /// The parameters as JSON text in UTF-8; `/` is not escaped.
    ///
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` where they are no JSON;
    ///   ``SessionError/advice`` says what and where.
    public func data(_ parameters: ParameterValue) throws(SessionError) -> Data {
        switch parameters {
        case .dictionary, .array: break
        default: throw Self.invalid("a JSON body is an object or an array, not \(parameters.kind)")
        }
        let document: JSONValue
        do throws(ParameterFault) {
            document = try parameters.json(self, depth: 0)
        } catch {
            throw Self.invalid(error.description)
        }
        return try document.data(pretty: isPretty)
    }

    static func invalid(_ detail: String, underlying: (any Error)? = nil) -> SessionError {
        SessionError(
            .cannotDecodeContentData, "The `parameters` argument is not valid JSON.", advice: detail,
            domain: .requestSerialization, underlying: underlying)
    }
}

extension JSONWritingOptions: Codable {
    private enum CodingKeys: CodingKey { case isPretty, dates, data }

    /// Reads what is there; the rest has its default.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        isPretty = try values.decodeIfPresent(Bool.self, forKey: .isPretty) ?? isPretty
        if values.contains(.dates) {
            dates = try values.decodeIfPresent(ParameterDateStyle.self, forKey: .dates)
        }
        data = try values.decodeIfPresent(ParameterDataStyle.self, forKey: .data)
    }

    /// Writes all of them, null for what is refused.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(isPretty, forKey: .isPretty)
        try values.encode(dates, forKey: .dates)
        try values.encode(data, forKey: .data)
    }
}

extension ParameterValue {
    /// The parameters as a JSON document.
    func json(_ options: JSONWritingOptions, depth: Int) throws(ParameterFault) -> JSONValue {
        switch self {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .unsigned(let value): return .unsigned(value)
        case .string(let value): return .string(value)
        case .number(let value):
            guard value.isFinite else { throw ParameterFault(self) }
            return ParameterNumber.whole(value).map { .integer($0) } ?? .number(value)
        case .data(let value):
            guard let style = options.data else { throw ParameterFault(self) }
            return .string(style.text(value))
        case .date(let value):
            guard let style = options.dates, let text = style.text(value) else { throw ParameterFault(self) }
            switch style {
            case .iso8601: return .string(text)
            case .secondsSince1970:
                return try ParameterValue.number(value.timeIntervalSince1970).json(options, depth: depth)
            case .millisecondsSince1970: return Int64(text).map { .integer($0) } ?? .string(text)
            }
        case .set: throw ParameterFault(self)
        case .array(let values):
            guard depth < ParameterFault.depthLimit else { throw .tooDeep }
            return .array(try Self.list(values, options, depth))
        case .dictionary(let values):
            guard depth < ParameterFault.depthLimit else { throw .tooDeep }
            return .object(try Self.names(values, options, depth))
        }
    }

    private static func list(
        _ values: [ParameterValue], _ options: JSONWritingOptions, _ depth: Int
    ) throws(ParameterFault) -> [JSONValue] {
        var elements: [JSONValue] = []
        elements.reserveCapacity(values.count)
        for value in values {
            do throws(ParameterFault) {
                elements.append(try value.json(options, depth: depth + 1))
            } catch {
                throw error.inside("[\(elements.count)]")
            }
        }
        return elements
    }

    private static func names(
        _ values: Parameters, _ options: JSONWritingOptions, _ depth: Int
    ) throws(ParameterFault) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        members.reserveCapacity(values.count)
        for (name, value) in values {
            do throws(ParameterFault) {
                members[name] = try value.json(options, depth: depth + 1)
            } catch {
                throw error.inside(".\(name)")
            }
        }
        return members
    }
}
