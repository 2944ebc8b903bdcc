// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore

/// The head of a response from `http://192.0.2.1/thing`.
func head(
    _ status: Int? = 200, type: String? = nil, method: HTTPRequest.Method? = .get
) throws -> SessionResponse {
    var fields = HTTPFields()
    fields[.contentType] = type
    return SessionResponse(
        url: try SessionRequest("http://192.0.2.1/thing").url, statusCode: status, headerFields: fields,
        requestMethod: method)
}

extension Data {
    /// The bytes of a text.
    init(text: String) { self.init(text.utf8) }
}

extension SessionError {
    /// The error of the session underneath.
    var inner: SessionError? { underlying as? SessionError }
}
