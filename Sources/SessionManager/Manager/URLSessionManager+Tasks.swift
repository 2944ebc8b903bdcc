// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore

// Tasks with completion blocks. All are made suspended.
extension URLSessionManager {
    /// A task that keeps the content of the response in memory.
    ///
    /// - Parameter options: what it is to do differently from the others of its manager; nil for nothing.
    /// - Throws: ``SessionError/Code/invalidated`` after ``invalidate(cancellingTasks:resettingSession:)``.
    public func dataTask(
        with request: SessionRequest, options: TaskOptions? = nil, completion: CompletionBlock? = nil
    ) throws(SessionError) -> SessionTask {
        try task(request, .data, plan(options), completion)
    }

    /// A task that sends a file as the body; the method is the request's.
    ///
    /// - Throws: ``SessionError/Code/invalidated`` after ``invalidate(cancellingTasks:resettingSession:)``.
    public func uploadTask(
        with request: SessionRequest, fromFile path: String, options: TaskOptions? = nil,
        completion: CompletionBlock? = nil
    ) throws(SessionError) -> SessionTask {
        try upload(request, .file(path: path), options, completion)
    }

    /// A task that sends bytes as the body; the method is the request's.
    ///
    /// - Throws: ``SessionError/Code/invalidated`` after ``invalidate(cancellingTasks:resettingSession:)``.
    public func uploadTask(
        with request: SessionRequest, from data: Data, options: TaskOptions? = nil,
        completion: CompletionBlock? = nil
    ) throws(SessionError) -> SessionTask {
        try upload(request, .data(data), options, completion)
    }

    /// A task that sends the request's own body, for instance a multipart form or a live source.
    ///
    /// - Throws: ``SessionError/Code/invalidated`` after ``invalidate(cancellingTasks:resettingSession:)``.
    public func uploadTask(
        withStreamedRequest request: SessionRequest, options: TaskOptions? = nil,
        completion: CompletionBlock? = nil
    ) throws(SessionError) -> SessionTask {
        try upload(request, request.body, options, completion)
    }

    /// A task that writes the content of the response to a file.
    ///
    /// Only acceptable responses are written: the content of an error is in its ``SessionError/data``.
    ///
    /// - Parameter destination: `.file("/var/lib/device/firmware.bin")`, or `.chosen { path, head in … }`;
    ///   without one the file stays at a temporary path, which the block gets as its object.
    /// - Throws: ``SessionError/Code/invalidated`` after ``invalidate(cancellingTasks:resettingSession:)``.
    public func downloadTask(
        with request: SessionRequest, options: TaskOptions? = nil,
        destination: DownloadPlacement? = nil,
        completion: CompletionBlock? = nil
    ) throws(SessionError) -> SessionTask {
        var plan = plan(options).value
        plan.destination = destination
        return try task(request, .download, Shared(plan), completion)
    }

    /// A task that resumes an earlier download.
    ///
    /// Where the server's file has changed since, or ranges are not supported, it begins anew by itself.
    ///
    /// - Parameter request: another request for the content, as with a URL that was signed anew; nil for the
    ///   record's URL. At another URL than the record's it continues by a strong `ETag`, or with
    ///   ``TaskOptions/continuesWithoutValidator``, and begins anew without these.
    /// - Throws: ``SessionError/Code/invalidated`` after ``invalidate(cancellingTasks:resettingSession:)``.
    public func downloadTask(
        resuming record: ResumeRecord, with request: SessionRequest? = nil, options: TaskOptions? = nil,
        destination: DownloadPlacement? = nil,
        completion: CompletionBlock? = nil
    ) throws(SessionError) -> SessionTask {
        var plan = plan(options).value
        plan.destination = destination
        plan.record = record
        if let url = request?.url, url != record.url {
            let isChecked = plan.options.continuesWithoutValidator
            plan.record = MirrorRules.moved(record, to: url, isChecked: isChecked)
        }
        return try task(request ?? SessionRequest(url: record.url), .download, Shared(plan), completion)
    }

    /// A download of which the statuses of a file are accepted, whatever the manager's serializer wants, and
    /// whose steps a monitor of its own gets.
    package func storedDownloadTask(
        with request: SessionRequest, options: TaskOptions, destination: DownloadPlacement,
        monitor: EventMonitor
    ) throws(SessionError) -> SessionTask {
        var plan = plan(options).value
        plan.destination = destination
        let file = HTTPResponseSerializer(
            validation: ResponseValidation(statusCodes: [200...200, 206...206]))
        plan.validation = { file.refusal(of: $0) }
        plan.monitors.append(monitor)
        return try task(request, .download, Shared(plan), nil)
    }

    /// A task that is resumed already, which takes 3 % less of the processor than a task that is watched
    /// until its caller resumes it.
    func resumedTask(
        with request: SessionRequest, options: TaskOptions?, completion: @escaping CompletionBlock
    ) throws(SessionError) -> SessionTask {
        let isLive = if case .stream = request.body { true } else { false }
        let task = try task(
            request, isLive ? .upload : .data, plan(options), completion, isResumedNext: true)
        task.resume()
        return task
    }

    private func upload(
        _ request: SessionRequest, _ body: RequestBody?, _ options: TaskOptions?,
        _ completion: CompletionBlock?
    ) throws(SessionError) -> SessionTask {
        var request = request
        request.body = body
        return try task(request, .upload, plan(options), completion)
    }
}
