// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes
public import SessionCore

// Forms of several parts (RFC 7578): fields, files and streams in one request.
extension HTTPSessionManager {
    /// A request with a form of several parts, as this manager sends it.
    ///
    /// - Parameters:
    ///   - parameters: become the first parts.
    ///   - headers: replace what the serializer puts in, but for `Content-Type`, which names the boundary.
    /// - Throws: where address, parameters or header fields cannot be used, and for GET and HEAD.
    public func request(
        _ method: HTTPRequest.Method, _ address: String, parameters: ParameterValue? = nil,
        form: MultipartFormData, headers: [String: String] = [:]
    ) throws(SessionError) -> SessionRequest {
        let plain = SessionRequest(url: try url(address), method: method)
        var request = try requestSerializer.serialize(plain, parameters: parameters, form: form)
        for (name, value) in headers {
            if request.body != nil, HTTPField.Name(name) == .contentType { continue }
            try request.setValue(value, forField: name)
        }
        return request
    }

    /// POSTs a form of several parts and decodes the answer.
    ///
    ///     var form = MultipartFormData()
    ///     try form.appendFile("/var/log/report.txt", name: "log")
    ///     let receipt: Receipt = try await api.post("reports", form: form)
    ///
    /// - Parameters:
    ///   - parameters: become the first parts.
    ///   - options: for instance ``TaskOptions/uploadProgress``.
    /// - Throws: as ``get(_:parameters:headers:options:)``.
    public func post<Value: Decodable & Sendable>(
        _ address: String, parameters: ParameterValue? = nil, form: MultipartFormData,
        headers: [String: String] = [:], options: TaskOptions? = nil
    ) async throws(SessionError) -> Value {
        let request = try request(.post, address, parameters: parameters, form: form, headers: headers)
        return try await value(of: request, options)
    }

    /// POSTs a form of several parts, with a completion block; see ``TaskOptions/uploadProgress``.
    ///
    /// - Parameter parameters: become the first parts.
    /// - Returns: the running task; nil where the request cannot be made: the block gets the reason.
    @discardableResult
    public func post(
        _ address: String, parameters: ParameterValue? = nil, form: MultipartFormData,
        headers: [String: String] = [:], options: TaskOptions? = nil, completion: @escaping CompletionBlock
    ) -> SessionTask? {
        resume(options, completion) { () throws(SessionError) in
            let request = try request(.post, address, parameters: parameters, form: form, headers: headers)
            return try session.uploadTask(
                withStreamedRequest: request, options: options, completion: completion)
        }
    }
}
