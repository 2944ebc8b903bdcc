// SPDX-License-Identifier: Apache-2.0

/// A request serializer with the name of its kind, as it is written down.
package enum StoredRequestSerializer: Codable {
    case http(HTTPRequestSerializer)
    case json(JSONRequestSerializer)
    case propertyList(PropertyListRequestSerializer)

    /// - Throws: `EncodingError` for one that is not of this library: its type could not be found again.
    package init(_ serializer: any RequestSerializer, at path: [any CodingKey]) throws {
        switch serializer {
        case let serializer as HTTPRequestSerializer: self = .http(serializer)
        case let serializer as JSONRequestSerializer: self = .json(serializer)
        case let serializer as PropertyListRequestSerializer: self = .propertyList(serializer)
        default: throw EncodingError.notOfThisLibrary(serializer, at: path)
        }
    }

    package var serializer: any RequestSerializer {
        switch self {
        case .http(let serializer): serializer
        case .json(let serializer): serializer
        case .propertyList(let serializer): serializer
        }
    }
}
