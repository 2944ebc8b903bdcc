// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes
public import SessionCore

// Verbs with completion blocks. Each makes a task, resumes it and returns it; a request that cannot be made
// calls the block with the reason, later and with no response, and returns nil. Bodies are as with the calls
// that return a value.
extension HTTPSessionManager {
    /// A task for any method; *not* resumed.
    ///
    /// - Throws: where the request cannot be made.
    public func dataTask(
        _ method: HTTPRequest.Method, _ address: String, parameters: RequestParameters? = nil,
        query: (any Encodable)? = nil,
        json: (any Encodable)? = nil, form: (any Encodable)? = nil, multipart: MultipartFormData? = nil,
        body: RequestBody? = nil, headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil, completion: CompletionBlock? = nil
    ) throws(SessionError) -> SessionTask {
        let request = try request(
            method, address, parameters: parameters, query: query, json: json, form: form,
            multipart: multipart, body: body, headers: headers)
        return try urlSessionManager.dataTask(with: request, options: options, completion: completion)
    }

    /// GETs; parameters go into the query.
    @discardableResult
    public func get(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        headers: any RequestHeaders = [String: String](), options: TaskOptions? = nil,
        completion: @escaping CompletionBlock
    ) -> SessionTask? {
        resume(options, completion) { () throws(SessionError) in
            try request(
                .get, address, parameters: parameters, query: query, headers: headers)
        }
    }

    /// Asks for the head alone; parameters go into the query.
    @discardableResult
    public func head(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        headers: any RequestHeaders = [String: String](), options: TaskOptions? = nil,
        completion: @escaping CompletionBlock
    ) -> SessionTask? {
        resume(options, completion) { () throws(SessionError) in
            try request(
                .head, address, parameters: parameters, query: query, headers: headers)
        }
    }

    /// POSTs.
    @discardableResult
    public func post(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        json: (any Encodable)? = nil, form: (any Encodable)? = nil, multipart: MultipartFormData? = nil,
        body: RequestBody? = nil, headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil, completion: @escaping CompletionBlock
    ) -> SessionTask? {
        resume(options, completion) { () throws(SessionError) in
            try request(
                .post, address, parameters: parameters, query: query, json: json, form: form,
                multipart: multipart, body: body, headers: headers)
        }
    }

    /// PUTs.
    @discardableResult
    public func put(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        json: (any Encodable)? = nil, form: (any Encodable)? = nil, multipart: MultipartFormData? = nil,
        body: RequestBody? = nil, headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil, completion: @escaping CompletionBlock
    ) -> SessionTask? {
        resume(options, completion) { () throws(SessionError) in
            try request(
                .put, address, parameters: parameters, query: query, json: json, form: form,
                multipart: multipart, body: body, headers: headers)
        }
    }

    /// PATCHes.
    @discardableResult
    public func patch(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        json: (any Encodable)? = nil, form: (any Encodable)? = nil, multipart: MultipartFormData? = nil,
        body: RequestBody? = nil, headers: any RequestHeaders = [String: String](),
        options: TaskOptions? = nil, completion: @escaping CompletionBlock
    ) -> SessionTask? {
        resume(options, completion) { () throws(SessionError) in
            try request(
                .patch, address, parameters: parameters, query: query, json: json, form: form,
                multipart: multipart, body: body, headers: headers)
        }
    }

    /// DELETEs; parameters go into the query.
    @discardableResult
    public func delete(
        _ address: String, parameters: RequestParameters? = nil, query: (any Encodable)? = nil,
        headers: any RequestHeaders = [String: String](), options: TaskOptions? = nil,
        completion: @escaping CompletionBlock
    ) -> SessionTask? {
        resume(options, completion) { () throws(SessionError) in
            try request(
                .delete, address, parameters: parameters, query: query, headers: headers)
        }
    }

    /// Makes a task of a request and resumes it; where it cannot be made the block gets the reason.
    private func resume(
        _ options: TaskOptions?, _ completion: @escaping CompletionBlock,
        _ make: () throws(SessionError) -> SessionRequest
    ) -> SessionTask? {
        do throws(SessionError) {
            return try urlSessionManager.resumedTask(with: make(), options: options, completion: completion)
        } catch {
            let group = options?.completionGroup
            group?.enter()
            (options?.completionQueue ?? completionQueue).submit {
                completion(nil, nil, error)
                group?.leave()
            }
            return nil
        }
    }
}
