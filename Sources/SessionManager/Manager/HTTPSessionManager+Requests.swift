// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import HTTPTypes
public import SessionCore

extension HTTPSessionManager {
    /// A request as this manager sends it; the parameters of all calls end here.
    ///
    /// - Parameters:
    ///   - parameters: values by name, in the query or the body as ``requestSerializer`` puts them; nil
    ///     values are left out. Beside `multipart` they are the first parts.
    ///   - query: one encodable value that goes into the query of the URL, behind what is there.
    ///   - json: one encodable value, written by ``encoder``.
    ///   - form: one encodable value, as `application/x-www-form-urlencoded`.
    ///   - multipart: fields, files and streams (RFC 7578); its `Content-Type` names the boundary and stays.
    ///   - body: bytes, a file or a stream; `application/octet-stream` unless `headers` name a type.
    ///   - headers: replace what the manager and its serializer put in, whatever the case of their names.
    /// - Throws: ``SessionError/Code/badURL`` for the address, ``SessionError/Code/invalidHeaderField`` for a
    ///   header, ``SessionError/Code/cannotDecodeContentData`` for values that cannot be written and where
    ///   more than one body was given.
    public func request(
        _ method: HTTPRequest.Method, _ address: String, parameters: RequestParameters? = nil,
        query: (any Encodable)? = nil, json: (any Encodable)? = nil, form: (any Encodable)? = nil,
        multipart: MultipartFormData? = nil, body: RequestBody? = nil,
        headers: any RequestHeaders = [String: String]()
    ) throws(SessionError) -> SessionRequest {
        let serializer = requestSerializer
        var request = SessionRequest(
            url: try url(address), method: method, headerFields: try defaultHeaders.fields())
        let contents = [json != nil, form != nil, multipart != nil, body != nil]
        guard contents.count(where: { $0 }) + (parameters != nil && multipart == nil ? 1 : 0) <= 1 else {
            throw SessionError(
                .cannotDecodeContentData, "more than one body was given for \(TextQuote(address))",
                advice: "give one of parameters, json, form, multipart and body; query is for the URL",
                domain: .requestSerialization, failingURL: request.url)
        }
        if let query {
            let text = try serializer.query(of: try ParameterValue(encoding: query), for: request)
            if !text.isEmpty { request.url = try request.url.appending(query: text) }
        }
        if let json {
            request.setBody(.data(try encoded(json)), type: "application/json")
        } else if let form {
            let text = try serializer.query(of: try ParameterValue(encoding: form), for: request)
            request.setBody(.data(Data(text.utf8)), type: "application/x-www-form-urlencoded")
        } else if let body {
            request.setBody(body, type: "application/octet-stream")
        }
        let values = try parameters.map { (values) throws(SessionError) in try ParameterValue(values) }
        if let multipart {
            request = try serializer.serialize(request, parameters: values, form: multipart)
        } else {
            request = try serializer.serialize(request, parameters: values)
        }
        let boundary = multipart == nil ? nil : request.headerFields[.contentType]
        try request.replaceHeaders(headers)
        if let boundary { request.headerFields[.contentType] = boundary }
        if let timeoutInterval { request.options.timeoutInterval = timeoutInterval }
        return request
    }

    private func encoded(_ value: any Encodable) throws(SessionError) -> Data {
        do {
            return try encoder.encode(value)
        } catch {
            throw SessionError(
                .cannotDecodeContentData, "a value of type \(type(of: value)) cannot be written: \(error)",
                domain: .requestSerialization, underlying: error)
        }
    }
}

extension SessionRequest {
    /// The body, with its media type unless there is one already.
    fileprivate mutating func setBody(_ body: RequestBody, type: String) {
        self.body = body
        if !headerFields.contains(.contentType) { headerFields[.contentType] = type }
    }
}
