// SPDX-License-Identifier: Apache-2.0

public import SessionCore

// Literals of values of several types are not Encodable, and the compiler alone would name two of the types.
// These are chosen where nothing else fits, and say what to write.
extension HTTPSessionManager {
    /// A dictionary of anything as the body of a POST that returns a value.
    @available(
        *, unavailable,
        message:
            "values of several types, or `Any`, are not Encodable: give a struct that is, or literals as `[…] as JSONValue`"
    )
    nonisolated(nonsending) public func post<Value: Decodable & Sendable>(
        _ address: String, query: (any Encodable)? = nil, json: [String: Any],
        headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> Value { try await post(address) }

    /// A dictionary of anything as the body of a POST.
    @available(
        *, unavailable,
        message:
            "values of several types, or `Any`, are not Encodable: give a struct that is, or literals as `[…] as JSONValue`"
    )
    @discardableResult
    nonisolated(nonsending) public func post(
        _ address: String, query: (any Encodable)? = nil, json: [String: Any],
        headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse { try await post(address) }

    /// An array of anything as the body of a POST that returns a value.
    @available(
        *, unavailable,
        message:
            "values of several types, or `Any`, are not Encodable: give a struct that is, or literals as `[…] as JSONValue`"
    )
    nonisolated(nonsending) public func post<Value: Decodable & Sendable>(
        _ address: String, query: (any Encodable)? = nil, json: [Any],
        headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> Value { try await post(address) }

    /// An array of anything as the body of a POST.
    @available(
        *, unavailable,
        message:
            "values of several types, or `Any`, are not Encodable: give a struct that is, or literals as `[…] as JSONValue`"
    )
    @discardableResult
    nonisolated(nonsending) public func post(
        _ address: String, query: (any Encodable)? = nil, json: [Any],
        headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse { try await post(address) }

    /// A dictionary of anything as the body of a PUT that returns a value.
    @available(
        *, unavailable,
        message:
            "values of several types, or `Any`, are not Encodable: give a struct that is, or literals as `[…] as JSONValue`"
    )
    nonisolated(nonsending) public func put<Value: Decodable & Sendable>(
        _ address: String, query: (any Encodable)? = nil, json: [String: Any],
        headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> Value { try await put(address) }

    /// A dictionary of anything as the body of a PUT.
    @available(
        *, unavailable,
        message:
            "values of several types, or `Any`, are not Encodable: give a struct that is, or literals as `[…] as JSONValue`"
    )
    @discardableResult
    nonisolated(nonsending) public func put(
        _ address: String, query: (any Encodable)? = nil, json: [String: Any],
        headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse { try await put(address) }

    /// An array of anything as the body of a PUT that returns a value.
    @available(
        *, unavailable,
        message:
            "values of several types, or `Any`, are not Encodable: give a struct that is, or literals as `[…] as JSONValue`"
    )
    nonisolated(nonsending) public func put<Value: Decodable & Sendable>(
        _ address: String, query: (any Encodable)? = nil, json: [Any],
        headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> Value { try await put(address) }

    /// An array of anything as the body of a PUT.
    @available(
        *, unavailable,
        message:
            "values of several types, or `Any`, are not Encodable: give a struct that is, or literals as `[…] as JSONValue`"
    )
    @discardableResult
    nonisolated(nonsending) public func put(
        _ address: String, query: (any Encodable)? = nil, json: [Any],
        headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse { try await put(address) }

    /// A dictionary of anything as the body of a PATCH that returns a value.
    @available(
        *, unavailable,
        message:
            "values of several types, or `Any`, are not Encodable: give a struct that is, or literals as `[…] as JSONValue`"
    )
    nonisolated(nonsending) public func patch<Value: Decodable & Sendable>(
        _ address: String, query: (any Encodable)? = nil, json: [String: Any],
        headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> Value { try await patch(address) }

    /// A dictionary of anything as the body of a PATCH.
    @available(
        *, unavailable,
        message:
            "values of several types, or `Any`, are not Encodable: give a struct that is, or literals as `[…] as JSONValue`"
    )
    @discardableResult
    nonisolated(nonsending) public func patch(
        _ address: String, query: (any Encodable)? = nil, json: [String: Any],
        headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse { try await patch(address) }

    /// An array of anything as the body of a PATCH that returns a value.
    @available(
        *, unavailable,
        message:
            "values of several types, or `Any`, are not Encodable: give a struct that is, or literals as `[…] as JSONValue`"
    )
    nonisolated(nonsending) public func patch<Value: Decodable & Sendable>(
        _ address: String, query: (any Encodable)? = nil, json: [Any],
        headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> Value { try await patch(address) }

    /// An array of anything as the body of a PATCH.
    @available(
        *, unavailable,
        message:
            "values of several types, or `Any`, are not Encodable: give a struct that is, or literals as `[…] as JSONValue`"
    )
    @discardableResult
    nonisolated(nonsending) public func patch(
        _ address: String, query: (any Encodable)? = nil, json: [Any],
        headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse { try await patch(address) }
}
