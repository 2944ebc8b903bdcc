// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore

/// Reads XML into a tree.
///
/// No content is no object and no error.
public struct XMLDocumentResponseSerializer: ValidatingResponseSerializer, Equatable, Codable {
    /// Which responses are acceptable; `application/xml` and `text/xml` unless said.
    public var validation: ResponseValidation
    /// What of the document is kept.
    public var options: XMLTree.Options

    /// A serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: ["application/xml", "text/xml"]),
        options: XMLTree.Options = XMLTree.Options()
    ) {
        self.validation = validation
        self.options = options
    }

    /// The document; nil for empty content.
    public func decode(_ data: Data?, response: SessionResponse?) throws(SessionError) -> XMLTree? {
        guard let data, !data.isEmpty else { return nil }
        do {
            return try XMLTree(parsing: data, options: options)
        } catch {
            throw SessionError(
                .cannotParseResponse, "the content is no XML: \(error)", domain: .responseSerialization,
                underlying: error)
        }
    }
}
