// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import HTTPTypes

/// Puts parameters into a URL's query or a form body, and default header fields and options into requests.
///
/// A program that shares one between threads keeps it behind a lock, as the session manager does.
public struct HTTPRequestSerializer: RequestSerializer {
    /// Makes the query out of parameters in its own way; what it throws fails the request.
    public typealias QueryBlock =
        @Sendable (_ request: SessionRequest, _ parameters: ParameterValue) throws -> String

    /// What is added to requests without the field; `Accept-Language` and `User-Agent` at first.
    public var headerFields: HTTPFields
    /// The conditions that are put into each request; none at first.
    public var options = RequestOptionChanges()
    /// The methods whose parameters go into the URL; the others have them in the body.
    ///
    /// GET, HEAD and DELETE at first. Write them in capitals: a request's method is compared in capitals.
    public var methodsEncodingParametersInURI: Set<HTTPRequest.Method> = [.get, .head, .delete]
    /// The encoding of a form's bytes and of the text parts of a multipart form; UTF-8.
    ///
    /// What is percent-escaped is escaped as UTF-8 whatever this says.
    public var textEncoding = String.Encoding.utf8
    /// How parameters are written; setting it removes ``queryBlock``.
    public var queryStringEncoder = QueryStringEncoder() {
        didSet { queryBlock = nil }
    }
    /// Takes the place of ``queryStringEncoder`` where it is set.
    public var queryBlock: QueryBlock?

    /// A serializer with the default header fields of this process.
    public init() { headerFields = DefaultHeaderFields.current }

    /// A serializer with these header fields and no others.
    public init(headerFields: HTTPFields) { self.headerFields = headerFields }

    /// The request with header fields and options, and with the parameters in its query or body.
    ///
    /// A method with parameters in the body gets a form body even without parameters, unless there is a body.
    ///
    /// - Throws: what ``queryBlock`` throws, as it is if it is a ``SessionError``, else as
    ///   ``SessionError/underlying``; ``SessionError/Code/cannotDecodeContentData`` where the parameters
    ///   cannot be written; ``SessionError/Code/badURL`` where the block's query does not fit into a URL.
    public func serialize(
        _ request: SessionRequest, parameters: ParameterValue?
    ) throws(SessionError) -> SessionRequest {
        var request = prepared(request)
        if encodesInURI(request.method) {
            guard let parameters else { return request }
            let query = try query(request, parameters)
            if !query.isEmpty {
                request.url = try request.url.appending(query: String(decoding: query, as: UTF8.self))
            }
        } else if let parameters {
            try setForm(try query(request, parameters), in: &request)
        } else if request.body == nil {
            try setForm([], in: &request)
        }
        return request
    }

    /// The request with the parameters in a body of another format, or in the query by its method.
    ///
    /// - Parameter type: the media type of the body, unless the request says another one.
    package func serialize(
        _ request: SessionRequest, parameters: ParameterValue?, as type: String,
        _ body: (ParameterValue) throws(SessionError) -> Data
    ) throws(SessionError) -> SessionRequest {
        if encodesInURI(request.method) { return try serialize(request, parameters: parameters) }
        var request = prepared(request)
        guard let parameters else { return request }
        request.body = .data(try body(parameters))
        if !request.headerFields.contains(.contentType) {
            request.headerFields.append(HTTPField(name: .contentType, value: type))
        }
        return request
    }

    /// What ``queryBlock`` makes of parameters, or ``queryStringEncoder`` where there is none.
    ///
    /// - Throws: as ``serialize(_:parameters:)``.
    public func query(
        of parameters: ParameterValue, for request: SessionRequest
    ) throws(SessionError) -> String {
        String(decoding: try query(request, parameters), as: UTF8.self)
    }

    /// The request with header fields and options, parameters aside.
    private func prepared(_ request: SessionRequest) -> SessionRequest {
        var prepared = request
        if prepared.headerFields.isEmpty {
            prepared.headerFields = headerFields
        } else {
            // Asked of the request as it came: a default may have several lines of one name.
            for field in headerFields where !request.headerFields.contains(field.name) {
                prepared.headerFields.append(field)
            }
        }
        if !options.isEmpty { options.apply(to: &prepared.options) }
        return prepared
    }

    /// Whether a method's parameters belong into the URL.
    private func encodesInURI(_ method: HTTPRequest.Method) -> Bool {
        if methodsEncodingParametersInURI.contains(method) { return true }
        let name = method.rawValue
        guard name.utf8.contains(where: { (0x61...0x7A).contains($0) }) else { return false }
        return HTTPRequest.Method(rawValue: name.uppercased()).map(methodsEncodingParametersInURI.contains)
            ?? false
    }

    private func query(_ request: SessionRequest, _ parameters: ParameterValue) throws(SessionError)
        -> [UInt8]
    {
        guard let queryBlock else { return try queryStringEncoder.bytes(parameters) }
        do {
            return Array(try queryBlock(request, parameters).utf8)
        } catch let error as SessionError {
            throw error
        } catch {
            throw SessionError(
                .cannotDecodeContentData, "the query block failed: \(error)", domain: .requestSerialization,
                failingURL: request.url, underlying: error)
        }
    }

    private func setForm(_ query: [UInt8], in request: inout SessionRequest) throws(SessionError) {
        if !request.headerFields.contains(.contentType) {
            request.headerFields.append(
                HTTPField(name: .contentType, value: "application/x-www-form-urlencoded"))
        }
        request.body = .data(
            textEncoding == .utf8
                ? Data(query) : try textEncoding.data(String(decoding: query, as: UTF8.self)))
    }
}

extension String.Encoding {
    /// The bytes of a text; throws ``SessionError/Code/cannotDecodeContentData`` for characters it lacks.
    func data(_ text: String) throws(SessionError) -> Data {
        guard let data = text.data(using: self) else {
            throw SessionError(
                .cannotDecodeContentData, "\(TextQuote(text)) cannot be written in the chosen text encoding",
                advice: "use UTF-8", domain: .requestSerialization)
        }
        return data
    }
}

extension HTTPRequestSerializer {
    /// Replaces a default header field, or removes it with nil; names are compared without regard to case.
    ///
    /// - Throws: ``SessionError/Code/invalidHeaderField`` for no token or a control byte (RFC 9110 §5.5).
    public mutating func setValue(_ value: String?, forHeader name: String) throws(SessionError) {
        try headerFields.setChecked(value, forHeader: name)
    }

    /// The value of a default header field; nil where there is none.
    public func value(forHeader name: String) -> String? {
        HTTPField.Name(name).flatMap { headerFields[$0] }
    }

    /// Sends a user name and password with each request, without being asked (RFC 7617).
    ///
    /// They travel in clear text unless the URL is `https`.
    ///
    /// - Throws: ``SessionError/Code/invalidHeaderField`` where the user name has a colon, or one of both a
    ///   control character: a server would read something else.
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
        headerFields[.authorization] = "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
    }

    /// Sends no `Authorization` any more.
    public mutating func clearAuthorization() { headerFields[.authorization] = nil }
}

extension HTTPFields {
    /// Replaces a field, or removes it with nil; throws ``SessionError/Code/invalidHeaderField``.
    mutating func setChecked(_ value: String?, forHeader name: String) throws(SessionError) {
        let field = try HTTPField(checked: name, value ?? "")
        self[field.name] = value
    }
}
