// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import SessionCore
public import SessionManager
import Synchronization

/// Loads pages of text, one at a time: loading another cancels the former.
///
/// The text is decoded by the server's charset, else as UTF-8, and may be changed first. From any thread.
public final class PageLoader: Sendable {
    private let manager: URLSessionManager
    private let current = Mutex<SessionTask?>(nil)
    /// Which responses are pages; those with a status of success unless said.
    private let validation: ResponseValidation

    /// A loader whose tasks are a manager's.
    public init(_ manager: URLSessionManager, validation: ResponseValidation = ResponseValidation()) {
        self.manager = manager
        self.validation = validation
    }

    /// Loads a page.
    ///
    /// - Parameters:
    ///   - progress: called as the content comes, on the manager's completion queue; last with the last byte.
    ///   - transform: makes of the text what is to be shown.
    /// - Throws: what hindered the load; ``SessionError/Code/cancelled`` where another has begun meanwhile.
    public func load(
        _ request: SessionRequest, progress: (@Sendable (TransferProgress.Snapshot) -> Void)? = nil,
        transform: @Sendable (SessionResponse, String) -> String = { $1 }
    ) async throws(SessionError) -> String {
        var options = TaskOptions()
        options.downloadProgress = progress
        let task = try manager.dataTask(with: request, options: options)
        let former = current.withLock { current in
            defer { current = task }
            return current
        }
        former?.cancel()
        task.resume()
        let outcome = await task.outcome()
        current.withLock { if $0 === task { $0 = nil } }
        if let error = outcome.error { throw error }
        guard let response = outcome.response else {
            throw SessionError(.cancelled, "the task was cancelled", failingURL: request.url)
        }
        let encoding: TextEncoding? = response.charset == nil ? .utf8 : nil
        let serializer = StringResponseSerializer(validation: validation, encoding: encoding)
        let result = serializer.serialize(outcome.data, response: response)
        if let error = result.error { throw error }
        return transform(response, result.value ?? "")
    }
}
