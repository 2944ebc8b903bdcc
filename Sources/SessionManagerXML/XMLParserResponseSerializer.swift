// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore

/// Hands XML on to be read in events; malformed content is found only while it is read.
public struct XMLParserResponseSerializer: ValidatingResponseSerializer, Equatable, Codable {
    /// Which responses are acceptable; `application/xml` and `text/xml` unless said.
    public var validation: ResponseValidation
    /// Whether the parser reports namespaces and qualified names apart; false.
    public var processesNamespaces: Bool

    /// A serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: ["application/xml", "text/xml"]),
        processesNamespaces: Bool = false
    ) {
        self.validation = validation
        self.processesNamespaces = processesNamespaces
    }

    /// The unread document; nil for empty content.
    public func decode(_ data: Data?, response: SessionResponse?) throws(SessionError) -> XMLEventSource? {
        guard let data, !data.isEmpty else { return nil }
        return XMLEventSource(data: data, processesNamespaces: processesNamespaces)
    }
}
