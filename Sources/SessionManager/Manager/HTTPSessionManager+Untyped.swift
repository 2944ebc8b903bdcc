// SPDX-License-Identifier: Apache-2.0

public import SessionCore

// Calls that name no type for the answer: its content is not looked at.
extension HTTPSessionManager {
    /// POSTs parameters, as a form unless ``requestSerializer`` says otherwise; returns the answer's head.
    ///
    /// - Throws: ``SessionError`` where the request fails or the status is not acceptable.
    @discardableResult
    public func post(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse {
        try await data(.post, address, parameters: parameters, headers: headers, options: options).1
    }

    /// POSTs a form of several parts and returns the head of the answer.
    ///
    /// - Parameter parameters: become the first parts.
    /// - Throws: ``SessionError`` where the request fails or the status is not acceptable.
    @discardableResult
    public func post(
        _ address: String, parameters: ParameterValue? = nil, form: MultipartFormData,
        headers: [String: String] = [:], options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse {
        let request = try request(.post, address, parameters: parameters, form: form, headers: headers)
        return try await acceptedData(for: request, options).1
    }

    /// PUTs parameters and returns the head of the answer.
    ///
    /// - Throws: ``SessionError`` where the request fails or the status is not acceptable.
    @discardableResult
    public func put(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse {
        try await data(.put, address, parameters: parameters, headers: headers, options: options).1
    }

    /// PATCHes with parameters and returns the head of the answer.
    ///
    /// - Throws: ``SessionError`` where the request fails or the status is not acceptable.
    @discardableResult
    public func patch(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse {
        try await data(.patch, address, parameters: parameters, headers: headers, options: options).1
    }

    /// DELETEs and returns the head of the answer.
    ///
    /// - Parameter parameters: go into the query.
    /// - Throws: ``SessionError`` where the request fails or the status is not acceptable.
    @discardableResult
    public func delete(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse {
        try await data(.delete, address, parameters: parameters, headers: headers, options: options).1
    }

    /// A GET whose answer has no type: the compiler says how to name it.
    @available(
        *, unavailable,
        message:
            "the type of the answer is missing: write `let user: User = try await …get(…)`, or use `data(.get, …)` for the content as it is"
    )
    @discardableResult
    public func get(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse {
        try await data(.get, address, parameters: parameters, headers: headers, options: options).1
    }
}
