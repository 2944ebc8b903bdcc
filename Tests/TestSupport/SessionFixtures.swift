// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
package import HTTPTypes
package import SessionCore
package import Testing

/// The head of a response from `http://192.0.2.1/thing`.
package func head(
    _ status: Int? = 200, type: String? = nil, method: HTTPRequest.Method? = .get
) throws -> SessionResponse {
    var fields = HTTPFields()
    fields[.contentType] = type
    return SessionResponse(
        url: try SessionRequest("http://192.0.2.1/thing").url, statusCode: status, headerFields: fields,
        requestMethod: method)
}

/// The error that an action ends with; nil, and a complaint, where it ends well.
package func sessionError(
    sourceLocation: SourceLocation = #_sourceLocation, _ action: () throws -> Void
) -> SessionError? {
    do {
        try action()
        Issue.record("no error", sourceLocation: sourceLocation)
        return nil
    } catch {
        return error as? SessionError
    }
}

extension SessionRequest {
    /// The body where it is in memory.
    package var bodyData: Data? {
        if case .data(let data) = body { data } else { nil }
    }

    /// The body as text where it is in memory.
    package var bodyText: String? { bodyData.map { String(decoding: $0, as: UTF8.self) } }
}

extension SessionError {
    /// The error of the session underneath.
    package var inner: SessionError? { underlying as? SessionError }
}

extension Data {
    /// The bytes of a text.
    package init(text: String) { self.init(text.utf8) }
}
