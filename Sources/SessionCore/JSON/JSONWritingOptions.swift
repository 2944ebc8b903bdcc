// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// How parameters are written as JSON.
///
/// Names are sorted: the same parameters always make the same bytes.
public struct JSONWritingOptions: Sendable, Hashable {
    /// Whether the text has line breaks and two spaces for each level; false.
    public var isPretty = false
    /// How dates are written; nil refuses them, as JSON has none.
    public var dates: ParameterDateStyle?
    /// How data are written; nil refuses them, as JSON has none.
    public var data: ParameterDataStyle?

    /// The defaults.
    public init() {}

    /// The parameters as JSON text in UTF-8; `/` is not escaped.
    ///
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` where they are no JSON; ``SessionError/advice`` says what and where.
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
        dates = try values.decodeIfPresent(ParameterDateStyle.self, forKey: .dates)
        data = try values.decodeIfPresent(ParameterDataStyle.self, forKey: .data)
    }
}
