// SPDX-License-Identifier: Apache-2.0

import EventLoop
public import FoundationEssentials
public import SessionCore

extension URLSessionManager {
    /// Sends a request and returns the content of the response with its head, whatever the status.
    ///
    /// Cancelling the Swift task cancels the transfer.
    ///
    /// - Throws: what hindered the transfer.
    nonisolated(nonsending) public func data(
        for request: SessionRequest
    ) async throws(SessionError) -> (Data, SessionResponse) {
        try await task(request, request.body == nil ? .data : .upload, ordinaryPlan(), isResumedNext: true)
            .content()
    }

    /// As ``data(for:)``, with what the task does differently from the others of its manager.
    nonisolated(nonsending) public func data(
        for request: SessionRequest, options: TaskOptions?
    ) async throws(SessionError) -> (Data, SessionResponse) {
        try await task(request, request.body == nil ? .data : .upload, plan(options), isResumedNext: true)
            .content()
    }

    /// Sends a request and makes an object of the response.
    ///
    /// Decoding holds up no transfer. An interceptor's retriers are asked about undecodable content.
    ///
    /// - Parameter options: what the task does differently from the others of its manager; nil for nothing.
    /// - Returns: nil where an acceptable response has no content.
    /// - Throws: what hindered the transfer, or the serializer's error with the content as its data.
    public func object<Serializer: ResponseSerializer>(
        for request: SessionRequest, using serializer: Serializer, options: TaskOptions? = nil
    ) async throws(SessionError) -> Serializer.Value? {
        let plan = plan(options, decodingBy: serializer)
        let task = try task(request, request.body == nil ? .data : .upload, plan, isResumedNext: true)
        let (data, response) = try await task.content()
        let result =
            task.knownOutcome.serialized.map {
                SerializedResponse($0.value as? Serializer.Value, error: $0.error)
            } ?? serializer.serialize(data, response: response)
        if let error = result.error { throw error }
        return result.value
    }

    /// The plan of a task whose content is wanted as an object.
    private func plan(
        _ options: TaskOptions?, decodingBy serializer: some ResponseSerializer
    ) -> Shared<TaskPlan> {
        let plan = plan(options)
        guard plan.value.interceptor != nil else { return plan }
        var decoding = plan.value
        decoding.serialization = { serializer.content($0, of: $1) }
        return Shared(decoding)
    }

    /// Sends a request and returns the head of the response when it has come, with the content as it comes.
    ///
    /// - Throws: what hindered the transfer before the head came; what comes later is thrown by the stream.
    public func stream(
        for request: SessionRequest, options: TaskOptions? = nil
    ) async throws(SessionError) -> (SessionResponse, ContentStream) {
        try await stream(for: request, options: options) { _ in }
    }

    /// The same, with the task before it is resumed.
    package func stream(
        for request: SessionRequest, options: TaskOptions? = nil, beforeResuming: (SessionTask) -> Void
    ) async throws(SessionError) -> (SessionResponse, ContentStream) {
        let buffer = StreamBuffer()
        let head = ResponseHeadFuture()
        var plan = plan(options).value
        plan.stream = buffer
        plan.head = head
        let task = try task(request, .stream, Shared(plan), isResumedNext: true)
        task.whenEnded { outcome in
            if let error = outcome.error {
                head.fulfil(.failure(error))
            } else if let response = outcome.response {
                head.fulfil(.success(response))
            }
        }
        beforeResuming(task)
        task.resume()
        let result = await withTaskCancellationHandler {
            await head.value
        } onCancel: {
            task.cancel()
        }
        return (try result.get(), ContentStream(buffer, task: task))
    }

    /// Sends a request and writes the content of the response to a file.
    ///
    /// - Throws: what hindered the transfer or the writing; the destination is untouched then.
    public func download(
        _ request: SessionRequest, to destination: DownloadDestination, options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse {
        var plan = plan(options).value
        if let sha256 = destination.sha256, SHA256Digest.parse(sha256) == nil {
            throw SHA256Digest.invalid(sha256)
        }
        plan.destination = .file(destination)
        let task = try task(request, .download, Shared(plan), isResumedNext: true)
        task.resume()
        let outcome = await task.outcome()
        if let error = outcome.error { throw error }
        guard let response = outcome.response else { throw task.cancelledError }
        return response
    }

    /// Runs tasks on the thread that transfers, by `withTaskExecutorPreference` or `executorPreference`.
    ///
    /// Made for code that sends one small request after the other: nothing changes threads then, which saves
    /// about a fifth of a request's processor time. What takes long or blocks there holds up every transfer.
    ///
    /// - Throws: ``SessionError/Code/outOfResources`` where no thread can be started.
    public var transferExecutor: any TaskExecutor {
        get throws(SessionError) { LoopTaskExecutor(try reactor.get()) }
    }

    /// Calls blocks on the thread that transfers; for ``completionQueue``, ``TaskOptions/completionQueue``.
    ///
    /// What ``transferExecutor`` is for tasks: nothing changes threads, and what takes long or blocks there
    /// holds up every transfer. A block may make and resume further tasks; it is called after the answer's
    /// own turn, never inside a call of yours.
    ///
    /// - Throws: ``SessionError/Code/outOfResources`` where no thread can be started.
    public var transferQueue: DeliveryQueue {
        get throws(SessionError) {
            let reactor = try reactor.get()
            return .custom { reactor.perform($0) }
        }
    }
}
