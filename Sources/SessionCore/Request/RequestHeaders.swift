// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes

/// Header fields of one request: a dictionary of text, `["X-Trace": "1"]`, or `HTTPFields`.
///
/// `.fields([.accept: "text/plain"])` writes down `HTTPFields` in place.
public protocol RequestHeaders: Sendable {
    /// Name and value of each field; a name that occurs several times becomes several lines.
    var headerLines: [(name: String, value: String)] { get }
}

extension Dictionary: RequestHeaders where Key == String, Value == String {
    /// Name and value of each field.
    public var headerLines: [(name: String, value: String)] { map { ($0.key, $0.value) } }
}

extension HTTPFields: RequestHeaders {
    /// Name and value of each field, in their order.
    public var headerLines: [(name: String, value: String)] { map { ($0.name.rawName, $0.value) } }
}

extension RequestHeaders where Self == HTTPFields {
    /// Fields by the names that `HTTPField.Name` knows.
    public static func fields(_ fields: HTTPFields) -> HTTPFields { fields }
}

extension SessionRequest {
    /// Puts header fields in, in place of those with the same names.
    ///
    /// - Throws: ``SessionError/Code/invalidHeaderField`` as ``setValue(_:forHeader:)``.
    package mutating func replaceHeaders(_ headers: any RequestHeaders) throws(SessionError) {
        var replaced: Set<HTTPField.Name> = []
        for (name, value) in headers.headerLines {
            let field = try HTTPField(checked: name, value)
            if replaced.insert(field.name).inserted { headerFields[field.name] = nil }
            headerFields.append(field)
        }
    }
}

/// The header fields that a manager puts into each of its requests, by names without regard to case.
///
/// Any text may be set, since it may come from outside, such as a serial number. A name or value that breaks
/// a request apart (RFC 9110 §5.5) fails each request with ``SessionError/Code/invalidHeaderField``, until it
/// is replaced.
public struct DefaultHeaders: Sendable, ExpressibleByDictionaryLiteral {
    private var lines: [(name: String, value: String)] = []

    /// No fields.
    public init() {}

    /// These fields.
    public init(_ headers: any RequestHeaders) { lines = headers.headerLines }

    /// Fields, written `["X-Device": "7"]`; a name that occurs twice becomes two lines.
    public init(dictionaryLiteral elements: (String, String)...) {
        lines = elements.map { (name: $0.0, value: $0.1) }
    }

    /// The value of a field, several joined by a comma; nil where there is none.
    ///
    /// Setting it replaces all lines of the name.
    public subscript(name: String) -> String? {
        get {
            let values = lines.filter { Self.isSame($0.name, name) }.map(\.value)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        set {
            lines.removeAll { Self.isSame($0.name, name) }
            if let newValue { lines.append((name, newValue)) }
        }
    }

    /// The same by a name of `HTTPFields`, such as `.accept`.
    public subscript(name: HTTPField.Name) -> String? {
        get { self[name.rawName] }
        set { self[name.rawName] = newValue }
    }

    /// Whether there are none.
    public var isEmpty: Bool { lines.isEmpty }

    /// The fields that a request begins with.
    ///
    /// - Throws: ``SessionError/Code/invalidHeaderField`` for the first that breaks a request apart.
    package func fields() throws(SessionError) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in lines { fields.append(try HTTPField(checked: name, value)) }
        return fields
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        one.utf8.equalsIgnoringCase(other.utf8)
    }
}

extension HTTPField {
    /// A field of checked text; throws ``SessionError/Code/invalidHeaderField``.
    init(checked name: String, _ value: String) throws(SessionError) {
        guard let fieldName = HTTPField.Name(name) else {
            throw SessionError(.invalidHeaderField, "\(TextQuote(name)) is no name of a header field")
        }
        guard HTTPField.isValidValue(value) else {
            throw SessionError(
                .invalidHeaderField, "the value of \(fieldName) has a line break or another control character"
            )
        }
        self.init(name: fieldName, value: value)
    }
}
