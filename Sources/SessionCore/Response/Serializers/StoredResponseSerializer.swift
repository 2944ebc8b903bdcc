// SPDX-License-Identifier: Apache-2.0

/// A response serializer with the name of its kind, as it is written down.
package enum StoredResponseSerializer: Codable {
    case http(HTTPResponseSerializer)
    case json(JSONResponseSerializer)
    case string(StringResponseSerializer)
    case propertyList(PropertyListResponseSerializer)
    case image(ImageResponseSerializer)
    indirect case compound(CompoundResponseSerializer)

    /// - Throws: `EncodingError` for one that is not of this library: its type could not be found again.
    package init(_ serializer: any ResponseSerializer, at path: [any CodingKey]) throws {
        switch serializer {
        case let serializer as HTTPResponseSerializer: self = .http(serializer)
        case let serializer as JSONResponseSerializer: self = .json(serializer)
        case let serializer as StringResponseSerializer: self = .string(serializer)
        case let serializer as PropertyListResponseSerializer: self = .propertyList(serializer)
        case let serializer as ImageResponseSerializer: self = .image(serializer)
        case let serializer as CompoundResponseSerializer: self = .compound(serializer)
        default: throw EncodingError.notOfThisLibrary(serializer, at: path)
        }
    }

    package var serializer: any ResponseSerializer {
        switch self {
        case .http(let serializer): serializer
        case .json(let serializer): serializer
        case .string(let serializer): serializer
        case .propertyList(let serializer): serializer
        case .image(let serializer): serializer
        case .compound(let serializer): serializer
        }
    }
}

extension EncodingError {
    static func notOfThisLibrary(_ serializer: Any, at path: [any CodingKey]) -> EncodingError {
        .invalidValue(
            serializer,
            Context(codingPath: path, debugDescription: "\(type(of: serializer)) cannot be stored"))
    }
}
