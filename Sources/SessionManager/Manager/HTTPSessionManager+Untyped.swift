// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import HTTPTypes
public import SessionCore

// Calls that name no type for the answer: its content is not looked at, or taken as it is.
extension HTTPSessionManager {
    /// Asks for the head alone; parameters go into the query.
    ///
    /// - Throws: ``SessionError`` where the request cannot be made or fails, or the status is not acceptable.
    @discardableResult
    nonisolated(nonsending) public func head(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        headers: any RequestHeaders = [String: String](), options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse {
        try await acceptedData(
            for: request(
                .head, address, parameters: parameters, query: query, headers: headers),
            options
        ).1
    }

    /// POSTs and returns the head of the answer; the body is as with the calls that return a value.
    ///
    /// - Throws: ``SessionError`` where the request cannot be made or fails, or the status is not acceptable.
    @discardableResult
    nonisolated(nonsending) public func post(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        json: (any Encodable)? = nil, form: (any Encodable)? = nil, multipart: MultipartFormData? = nil,
        body: RequestBody? = nil, headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse {
        try await acceptedData(
            for: request(
                .post, address, parameters: parameters, query: query, json: json, form: form,
                multipart: multipart, body: body, headers: headers),
            options
        ).1
    }

    /// PUTs and returns the head of the answer; the body is as with `post`.
    ///
    /// - Throws: ``SessionError`` where the request cannot be made or fails, or the status is not acceptable.
    @discardableResult
    nonisolated(nonsending) public func put(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        json: (any Encodable)? = nil, form: (any Encodable)? = nil, multipart: MultipartFormData? = nil,
        body: RequestBody? = nil, headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse {
        try await acceptedData(
            for: request(
                .put, address, parameters: parameters, query: query, json: json, form: form,
                multipart: multipart, body: body, headers: headers),
            options
        ).1
    }

    /// PATCHes and returns the head of the answer; the body is as with `post`.
    ///
    /// - Throws: ``SessionError`` where the request cannot be made or fails, or the status is not acceptable.
    @discardableResult
    nonisolated(nonsending) public func patch(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        json: (any Encodable)? = nil, form: (any Encodable)? = nil, multipart: MultipartFormData? = nil,
        body: RequestBody? = nil, headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse {
        try await acceptedData(
            for: request(
                .patch, address, parameters: parameters, query: query, json: json, form: form,
                multipart: multipart, body: body, headers: headers),
            options
        ).1
    }

    /// DELETEs and returns the head of the answer; parameters go into the query.
    ///
    /// - Throws: ``SessionError`` where the request cannot be made or fails, or the status is not acceptable.
    @discardableResult
    nonisolated(nonsending) public func delete(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        headers: any RequestHeaders = [String: String](), options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse {
        try await acceptedData(
            for: request(
                .delete, address, parameters: parameters, query: query, headers: headers),
            options
        ).1
    }

    /// Sends a request and returns the content of an acceptable response as it is; there may be none.
    ///
    /// ``responseSerializer`` says which statuses are acceptable; the media type is not looked at. The body
    /// is as with `post`.
    ///
    /// - Throws: ``SessionError``, with the content as data, where the request fails or the status is bad.
    @discardableResult
    nonisolated(nonsending) public func data(
        _ method: HTTPRequest.Method, _ address: String, parameters: RequestParameters? = nil,
        query: (any Encodable)? = nil,
        json: (any Encodable)? = nil, form: (any Encodable)? = nil, multipart: MultipartFormData? = nil,
        body: RequestBody? = nil, headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> (Data, SessionResponse) {
        try await acceptedData(
            for: request(
                method, address, parameters: parameters, query: query, json: json, form: form,
                multipart: multipart, body: body, headers: headers),
            options)
    }

    /// A GET whose answer has no type: the compiler says how to name it.
    @available(
        *, unavailable,
        message:
            "the type of the answer is missing: write `let user: User = try await …get(…)`, or use `data(.get, …)` for the content as it is"
    )
    @discardableResult
    nonisolated(nonsending) public func get(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        headers: any RequestHeaders = [String: String](), options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse {
        try await acceptedData(for: request(.get, address), options).1
    }

    /// The content of an acceptable response.
    nonisolated(nonsending) private func acceptedData(
        for request: SessionRequest, _ options: TaskOptions?
    ) async throws(SessionError) -> (Data, SessionResponse) {
        let (data, response) = try await urlSessionManager.data(for: request, options: options)
        // Without content an unfit media type is no reason to refuse: the status alone is judged.
        if let error = responseSerializer.refusal(of: response) {
            throw error.with(failingURL: response.url, response: response, data: data)
        }
        return (data, response)
    }
}
