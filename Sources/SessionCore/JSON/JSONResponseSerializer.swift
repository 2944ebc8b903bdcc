// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Reads JSON into a ``JSONValue``.
///
/// Empty content, and a single space as some frameworks send it for “nothing”, is no object and no error.
public struct JSONResponseSerializer: ValidatingResponseSerializer, Equatable, Codable {
    /// Which responses are acceptable; `application/json`, `text/json` and `text/javascript` unless said.
    public var validation: ResponseValidation
    /// Whether the content may be a string, number, truth value or null instead of an array or object; false.
    public var allowsFragments: Bool
    /// Whether members and elements that are null are left out, at every level; false.
    public var removesNullValues: Bool

    /// A serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(
            contentTypes: ["application/json", "text/json", "text/javascript"]),
        allowsFragments: Bool = false, removesNullValues: Bool = false
    ) {
        self.validation = validation
        self.allowsFragments = allowsFragments
        self.removesNullValues = removesNullValues
    }

    /// The document; nil for empty content or a single space.
    public func decode(_ data: Data?, response: SessionResponse?) throws(SessionError) -> JSONValue? {
        guard let data, !data.isEmpty, !(data.count == 1 && data.first == 0x20) else { return nil }
        var value: JSONValue
        do {
            value = try JSONValue(parsing: data)
        } catch {
            throw .unreadable("the content is no JSON: \(error)", underlying: error)
        }
        switch value {
        case .array, .object: break
        default:
            guard allowsFragments else {
                throw .unreadable(
                    "the content is JSON, but neither an array nor an object",
                    advice: "set allowsFragments to take it")
            }
        }
        if removesNullValues { value = value.removingNulls() }
        return value
    }
}
