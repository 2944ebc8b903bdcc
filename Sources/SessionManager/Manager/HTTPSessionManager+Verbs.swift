// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import HTTPTypes
public import SessionCore

// One call, one answer.
extension HTTPSessionManager {
    /// GETs a value: `let user: User = try await api.get("users/1")`; ``decoder`` reads it.
    ///
    /// - Parameters:
    ///   - parameters: go into the query.
    ///   - options: what the task is to do differently from the others of its manager: progress, lane,
    ///     network, handlers; nil for nothing.
    /// - Throws: ``SessionError`` where the request fails, the status or the media type is not acceptable (by
    ///   ``responseSerializer``, where that is one of JSON or property lists; else `application/json`,
    ///   `text/json` and `text/javascript` are), or the content is no `Value`.
    public func get<Value: Decodable & Sendable>(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil
    ) async throws(SessionError) -> Value {
        try await value(.get, address, parameters, headers, options)
    }

    /// POSTs parameters, as a form unless ``requestSerializer`` says otherwise, and decodes the answer.
    ///
    /// - Throws: as ``get(_:parameters:headers:options:)``.
    public func post<Value: Decodable & Sendable>(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil
    ) async throws(SessionError) -> Value {
        try await value(.post, address, parameters, headers, options)
    }

    /// PUTs parameters and decodes the answer.
    ///
    /// - Throws: as ``get(_:parameters:headers:options:)``.
    public func put<Value: Decodable & Sendable>(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil
    ) async throws(SessionError) -> Value {
        try await value(.put, address, parameters, headers, options)
    }

    /// PATCHes with parameters and decodes the answer.
    ///
    /// - Throws: as ``get(_:parameters:headers:options:)``.
    public func patch<Value: Decodable & Sendable>(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil
    ) async throws(SessionError) -> Value {
        try await value(.patch, address, parameters, headers, options)
    }

    /// DELETEs and decodes the answer.
    ///
    /// - Parameter parameters: go into the query.
    /// - Throws: as ``get(_:parameters:headers:options:)``.
    public func delete<Value: Decodable & Sendable>(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil
    ) async throws(SessionError) -> Value {
        try await value(.delete, address, parameters, headers, options)
    }

    /// Asks for the head alone.
    ///
    /// - Throws: ``SessionError`` where the request fails or the status is not acceptable.
    @discardableResult
    public func head(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse {
        try await data(.head, address, parameters: parameters, headers: headers, options: options).1
    }

    /// Sends a request and returns the content of an acceptable response as it is; there may be none.
    ///
    /// ``responseSerializer`` says which statuses are acceptable; the media type is not looked at.
    ///
    /// - Throws: ``SessionError``, with the content as data, where the request fails or the status is bad.
    @discardableResult
    public func data(
        _ method: HTTPRequest.Method, _ address: String, parameters: ParameterValue? = nil,
        headers: [String: String] = [:], options: TaskOptions? = nil
    ) async throws(SessionError) -> (Data, SessionResponse) {
        try await acceptedData(
            for: request(method, address, parameters: parameters, headers: headers), options)
    }

    /// The content of an acceptable response.
    func acceptedData(
        for request: SessionRequest, _ options: TaskOptions?
    ) async throws(SessionError) -> (Data, SessionResponse) {
        let (data, response) = try await session.data(for: request, options: options)
        // Without content an unfit media type is no reason to refuse: the status alone is judged.
        if let error = responseSerializer.refusal(of: response) {
            throw error.with(failingURL: response.url, response: response, data: data)
        }
        return (data, response)
    }

    private func value<Value: Decodable & Sendable>(
        _ method: HTTPRequest.Method, _ address: String, _ parameters: ParameterValue?,
        _ headers: [String: String], _ options: TaskOptions?
    ) async throws(SessionError) -> Value {
        try await value(of: request(method, address, parameters: parameters, headers: headers), options)
    }

    /// Sends a request and decodes the answer.
    func value<Value: Decodable & Sendable>(
        of request: SessionRequest, _ options: TaskOptions?
    ) async throws(SessionError) -> Value {
        let serializer = AnswerSerializer<Value>(responseSerializer, decoder)
        guard let value = try await session.object(for: request, using: serializer, options: options) else {
            throw AnswerSerializer<Value>.missing(failingURL: request.url)
        }
        return value
    }
}
