// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
public import SessionCore

// One call, one value.
extension HTTPSessionManager {
    /// GETs a value: `let user: User = try await api.get("users/1")`; ``decoder`` reads it.
    ///
    /// An optional value, `User?`, is nil where the answer has no content.
    ///
    /// - Parameters:
    ///   - parameters: go into the query: `["fields": "id,name", "limit": limit]`; nil values are left out.
    ///   - query: the same as one encodable value, such as a struct or a dictionary.
    ///   - headers: `["X-Trace": "1"]` or `HTTPFields`, in place of the manager's own of the same names.
    ///   - options: what the task is to do differently from the others of its manager: progress, lane,
    ///     network, handlers; nil for nothing.
    /// - Throws: ``SessionError`` where the request cannot be made or fails, the status or the media type is
    ///   not acceptable (by ``responseSerializer``, where that is one of JSON or property lists; else
    ///   `application/json`, `text/json` and `text/javascript` are), or the content is no `Value`.
    nonisolated(nonsending) public func get<Value: Decodable & Sendable>(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        headers: any RequestHeaders = [String: String](), options: TaskOptions? = nil
    ) async throws(SessionError) -> Value {
        try await value(
            of: request(
                .get, address, parameters: parameters, query: query, headers: headers),
            options)
    }

    /// POSTs and decodes the answer: `let receipt: Receipt = try await api.post("samples", json: sample)`.
    ///
    /// At most one of these is the body:
    /// - Parameters:
    ///   - parameters: as ``requestSerializer`` puts them, a form unless it says otherwise; beside
    ///     `multipart` the first parts.
    ///   - query: goes into the query of the URL, whatever the body is.
    ///   - json: any encodable value, written by ``encoder``; of several types a struct, or
    ///     `["id": 1, "name": "Ada"] as JSONValue`.
    ///   - form: any encodable value, as `application/x-www-form-urlencoded`.
    ///   - multipart: fields, files and streams (RFC 7578).
    ///   - body: bytes, a file or a stream, as `application/octet-stream` unless `headers` name a type.
    ///   - headers: `["X-Trace": "1"]` or `HTTPFields`, in place of the manager's own of the same names.
    ///   - options: what the task is to do differently from the others of its manager; nil for nothing.
    /// - Throws: as ``get(_:parameters:query:headers:options:)``.
    nonisolated(nonsending) public func post<Value: Decodable & Sendable>(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        json: (any Encodable)? = nil, form: (any Encodable)? = nil, multipart: MultipartFormData? = nil,
        body: RequestBody? = nil, headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> Value {
        try await value(
            of: request(
                .post, address, parameters: parameters, query: query, json: json, form: form,
                multipart: multipart, body: body, headers: headers),
            options)
    }

    /// PUTs and decodes the answer; the body is as with `post`.
    ///
    /// - Throws: as ``get(_:parameters:query:headers:options:)``.
    nonisolated(nonsending) public func put<Value: Decodable & Sendable>(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        json: (any Encodable)? = nil, form: (any Encodable)? = nil, multipart: MultipartFormData? = nil,
        body: RequestBody? = nil, headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> Value {
        try await value(
            of: request(
                .put, address, parameters: parameters, query: query, json: json, form: form,
                multipart: multipart, body: body, headers: headers),
            options)
    }

    /// PATCHes and decodes the answer; the body is as with `post`.
    ///
    /// - Throws: as ``get(_:parameters:query:headers:options:)``.
    nonisolated(nonsending) public func patch<Value: Decodable & Sendable>(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        json: (any Encodable)? = nil, form: (any Encodable)? = nil, multipart: MultipartFormData? = nil,
        body: RequestBody? = nil, headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil
    ) async throws(SessionError) -> Value {
        try await value(
            of: request(
                .patch, address, parameters: parameters, query: query, json: json, form: form,
                multipart: multipart, body: body, headers: headers),
            options)
    }

    /// DELETEs and decodes the answer; parameters go into the query.
    ///
    /// - Throws: as ``get(_:parameters:query:headers:options:)``.
    nonisolated(nonsending) public func delete<Value: Decodable & Sendable>(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        headers: any RequestHeaders = [String: String](), options: TaskOptions? = nil
    ) async throws(SessionError) -> Value {
        try await value(
            of: request(
                .delete, address, parameters: parameters, query: query, headers: headers),
            options)
    }

    /// Sends a request and decodes the answer.
    nonisolated(nonsending) func value<Value: Decodable & Sendable>(
        of request: SessionRequest, _ options: TaskOptions?
    ) async throws(SessionError) -> Value {
        let serializer = AnswerSerializer<Value>(responseSerializer, decoder)
        let value = try await urlSessionManager.object(for: request, using: serializer, options: options)
        guard let value else { throw AnswerSerializer<Value>.missing(failingURL: request.url) }
        return value
    }
}
