// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import SessionCore

/// Puts parameters into a property-list body, or into the query for methods that have them in the URL.
///
/// Without parameters there is neither a body nor a `Content-Type`.
public struct PropertyListRequestSerializer: RequestSerializer {
    /// How a property list is written.
    public enum Format: String, Sendable, Codable, CaseIterable {
        /// XML 1.0 by Apple's document type.
        case xml
        /// Apple's binary format, version 00.
        case binary
    }

    /// Header fields, options, and all about queries.
    public var base: HTTPRequestSerializer
    /// How the body is written; XML at first.
    public var format: Format

    /// A serializer.
    public init(base: HTTPRequestSerializer = HTTPRequestSerializer(), format: Format = .xml) {
        self.base = base
        self.format = format
    }

    /// The request with the parameters as its property-list body.
    ///
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` where the parameters are no dictionary or
    ///   array, or have a null or a set, which property lists do not know.
    public func serialize(
        _ request: SessionRequest, parameters: ParameterValue?
    ) throws(SessionError) -> SessionRequest {
        try base.serialize(request, parameters: parameters, as: "application/x-plist") {
            parameters throws(SessionError) in try data(parameters)
        }
    }

    /// What ``base`` makes of parameters in a query.
    ///
    /// - Throws: as ``SessionCore/HTTPRequestSerializer/query(of:for:)``.
    public func query(
        of parameters: ParameterValue, for request: SessionRequest
    ) throws(SessionError) -> String {
        try base.query(of: parameters, for: request)
    }

    private func data(_ parameters: ParameterValue) throws(SessionError) -> Data {
        switch parameters {
        case .dictionary, .array: break
        default: throw Self.invalid("a property list is a dictionary or an array, not \(parameters.kind)")
        }
        do throws(ParameterFault) {
            try parameters.checkPropertyList(depth: 0)
        } catch {
            throw Self.invalid(error.description)
        }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format == .xml ? .xml : .binary
        do {
            return try encoder.encode(parameters)
        } catch {
            throw Self.invalid("\(error)", underlying: error)
        }
    }

    private static func invalid(_ detail: String, underlying: (any Error)? = nil) -> SessionError {
        SessionError(
            .cannotDecodeContentData, "The `parameters` argument is not a valid property list.",
            advice: detail, domain: .requestSerialization, underlying: underlying)
    }
}

extension ParameterValue {
    /// Makes sure that property lists know everything in it.
    fileprivate func checkPropertyList(depth: Int) throws(ParameterFault) {
        guard depth <= ParameterFault.depthLimit else { throw .tooDeep }
        switch self {
        case .array(let values):
            for (index, value) in values.enumerated() {
                do throws(ParameterFault) {
                    try value.checkPropertyList(depth: depth + 1)
                } catch {
                    throw error.inside("[\(index)]")
                }
            }
        case .dictionary(let values):
            for (name, value) in values {
                do throws(ParameterFault) {
                    try value.checkPropertyList(depth: depth + 1)
                } catch {
                    throw error.inside(".\(name)")
                }
            }
        case .null, .set: throw ParameterFault(self)
        case .number(let value) where !value.isFinite: throw ParameterFault(self)
        case .string(let text) where text.utf8.contains(where: { $0 < 0x20 && ![9, 10, 13].contains($0) }):
            throw ParameterFault(what: "text with a control character, which XML does not know")
        default: return
        }
    }
}

/// Everything but closures.
extension PropertyListRequestSerializer: Codable {
    private enum CodingKeys: CodingKey { case base, format }

    /// Reads what is there; the rest has its default.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            base: try values.decodeIfPresent(HTTPRequestSerializer.self, forKey: .base)
                ?? HTTPRequestSerializer(),
            format: try values.decodeIfPresent(Format.self, forKey: .format) ?? .xml)
    }
}

extension PropertyListRequestSerializer: StorableSerializer {
    /// The name in what is stored.
    public static var storedName: String { "propertyList" }
}
