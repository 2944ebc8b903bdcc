// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes

extension HTTPRequestSerializer {
    /// Replaces a default header field, or removes it with nil; names are compared without regard to case.
    ///
    /// - Throws: ``SessionError/Code/invalidHeaderField`` where the name is no token or the value has a control byte (RFC 9110 §5.5).
    public mutating func setValue(_ value: String?, forField name: String) throws(SessionError) {
        try headerFields.setChecked(value, forField: name)
    }

    /// The value of a default header field; nil where there is none.
    public func value(forField name: String) -> String? {
        HTTPField.Name(name).flatMap { headerFields[$0] }
    }

    /// Sends a user name and password with each request, without being asked (RFC 7617).
    ///
    /// They travel in clear text unless the URL is `https`.
    ///
    /// - Throws: ``SessionError/Code/invalidHeaderField`` where the user name has a colon, or one of both a control character: a server would
    ///   read something else.
    public mutating func setBasicAuthorization(user: String, password: String) throws(SessionError) {
        let isControl: (UInt8) -> Bool = { $0 < 0x20 || $0 == 0x7F }
        guard !user.utf8.contains(UInt8(ascii: ":")), !user.utf8.contains(where: isControl),
            !password.utf8.contains(where: isControl)
        else {
            throw SessionError(
                .invalidHeaderField,
                "basic authentication takes no colon in user names and no control characters (RFC 7617)",
                domain: .requestSerialization)
        }
        let credentials = Data("\(user):\(password)".utf8).base64EncodedString()
        headerFields[.authorization] = "Basic \(credentials)"
    }

    /// Sends no `Authorization` any more.
    public mutating func clearAuthorization() { headerFields[.authorization] = nil }
}

extension HTTPFields {
    /// Replaces a field, or removes it with nil.
    ///
    /// - Throws: ``SessionError/Code/invalidHeaderField`` where name or value would break the request apart.
    mutating func setChecked(_ value: String?, forField name: String) throws(SessionError) {
        guard let fieldName = HTTPField.Name(name) else {
            throw SessionError(.invalidHeaderField, "\(TextQuote(name)) is no name of a header field")
        }
        if let value, !HTTPField.isValidValue(value) {
            throw SessionError(
                .invalidHeaderField, "the value of \(fieldName) has a line break or another control character"
            )
        }
        self[fieldName] = value
    }
}
