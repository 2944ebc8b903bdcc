// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes
public import SessionCore

// Verbs with completion blocks. Each makes a task, resumes it and returns it; a request that cannot be made
// calls the block with the reason, later and with no response, and returns nil.
extension HTTPSessionManager {
    /// A task for any method; *not* resumed.
    ///
    /// - Throws: where the request cannot be made.
    public func dataTask(
        _ method: HTTPRequest.Method, _ address: String, parameters: ParameterValue? = nil,
        headers: [String: String] = [:], options: TaskOptions? = nil, completion: CompletionBlock? = nil
    ) throws(SessionError) -> SessionTask {
        try session.dataTask(
            with: request(method, address, parameters: parameters, headers: headers), options: options,
            completion: completion)
    }

    /// GETs; parameters go into the query.
    @discardableResult
    public func get(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil, completion: @escaping CompletionBlock
    ) -> SessionTask? { resume(.get, address, parameters, headers, options, completion) }

    /// Asks for the head alone; parameters go into the query.
    @discardableResult
    public func head(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil, completion: @escaping CompletionBlock
    ) -> SessionTask? { resume(.head, address, parameters, headers, options, completion) }

    /// POSTs parameters.
    @discardableResult
    public func post(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil, completion: @escaping CompletionBlock
    ) -> SessionTask? { resume(.post, address, parameters, headers, options, completion) }

    /// PUTs parameters.
    @discardableResult
    public func put(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil, completion: @escaping CompletionBlock
    ) -> SessionTask? { resume(.put, address, parameters, headers, options, completion) }

    /// PATCHes with parameters.
    @discardableResult
    public func patch(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil, completion: @escaping CompletionBlock
    ) -> SessionTask? { resume(.patch, address, parameters, headers, options, completion) }

    /// DELETEs; parameters go into the query.
    @discardableResult
    public func delete(
        _ address: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        options: TaskOptions? = nil, completion: @escaping CompletionBlock
    ) -> SessionTask? { resume(.delete, address, parameters, headers, options, completion) }

    private func resume(
        _ method: HTTPRequest.Method, _ address: String, _ parameters: ParameterValue?,
        _ headers: [String: String], _ options: TaskOptions?, _ completion: @escaping CompletionBlock
    ) -> SessionTask? {
        resume(options, completion) { () throws(SessionError) in
            try dataTask(
                method, address, parameters: parameters, headers: headers, options: options,
                completion: completion)
        }
    }

    /// Makes a task and resumes it; where it cannot be made the block gets the reason.
    func resume(
        _ options: TaskOptions?, _ completion: @escaping CompletionBlock,
        _ make: () throws(SessionError) -> SessionTask
    ) -> SessionTask? {
        do throws(SessionError) {
            let task = try make()
            task.resume()
            return task
        } catch {
            (options?.completionQueue ?? completionQueue).submit { completion(nil, nil, error) }
            return nil
        }
    }
}
