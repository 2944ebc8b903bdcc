// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Written as the plain value that it is: `.array([.integer(1)])` becomes `[1]`.
extension ParameterValue: Codable {
    /// Reads whatever a decoder has: a JSON or property-list tree, for instance.
    ///
    /// JSON knows no dates, data and sets: they come back as the text, number or array which the encoder made of them.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .unsigned(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([String: ParameterValue].self) {
            self = .dictionary(value)
        } else if let value = try? container.decode([ParameterValue].self) {
            self = .array(value)
        } else if let value = try? container.decode(Date.self) {
            self = .date(value)
        } else {
            self = .data(try container.decode(Data.self))
        }
    }

    /// Writes the value; dates and data as the encoder has them, a set as an array.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .array(let values), .set(let values): try container.encode(values)
        case .dictionary(let values): try container.encode(values)
        }
    }
}
