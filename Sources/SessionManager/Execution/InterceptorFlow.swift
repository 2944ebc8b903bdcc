// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// The questions of a task to its interceptor: adapters before each try, retriers after each failure.
struct InterceptorFlow {
    /// Tries besides the first.
    private(set) var count = 0
    /// What the interceptor got of the content.
    private(set) var serialized: Shared<SerializedContent>?
    /// A stored response could not be read.
    private(set) var isStoredUnreadable = false

    mutating func begin() { count += 1 }

    mutating func exchangeBegins() { serialized = nil }

    /// The content was read, or could not be; why that was so, or nil.
    mutating func serialized(_ content: Shared<SerializedContent>?, isStored: Bool) -> SessionError? {
        serialized = content
        guard let error = content?.value.error else { return nil }
        isStoredUnreadable = isStored
        return error
    }

    private func state(_ task: SessionTask, _ response: SessionResponse?, sent: SessionRequest?)
        -> RequestState
    {
        RequestState(
            identifier: task.identifier, retryCount: count, response: response, redirectedRequest: sent,
            date: Date(), instant: ContinuousClock.now)
    }

    /// The request as the adapters want it.
    func adaptation(
        _ interceptor: any RequestInterceptor, _ chain: RequestChain
    ) -> @Sendable () async -> Result<SessionRequest, any Error> {
        let (original, state) = (chain.originalRequest, state(chain.task, nil, sent: nil))
        return {
            do { return .success(try await interceptor.adapt(original, state: state)) } catch {
                return .failure(error)
            }
        }
    }

    /// What the retriers want after a failure.
    func decision(
        _ interceptor: any RequestInterceptor, _ chain: RequestChain, _ response: SessionResponse?,
        after error: SessionError
    ) -> @Sendable () async -> RetryDecision {
        // Another try sends the request before redirects: behind a POST there may be the GET of a redirect.
        let request = chain.beforeRedirection
        let state = state(chain.task, response, sent: chain.isRedirected ? chain.request : nil)
        return { await interceptor.retry(request, state: state, after: error) }
    }

    /// Why there is no other try; nil where the body can be sent again.
    func obstacle(_ chain: RequestChain) -> SessionError? {
        // Check both bodies: the delegate may have replaced the original.
        guard chain.beforeRedirection.body?.isRewindable != false,
            chain.task.originalRequest.body?.isRewindable != false
        else {
            return .bodyExhausted("the request is to be tried again, and its body", chain.request.url)
        }
        return nil
    }

    /// Whether an interceptor wants to know if the content can be read.
    static func serializes(_ task: SessionTask, isDownload: Bool) -> Bool {
        guard task.plan.interceptor != nil, !isDownload, task.plan.completion != nil else { return false }
        return task.plan.serialization != nil || task.block != nil
    }

    /// What the content is, or why it cannot be read.
    static func serialization(
        _ response: SessionResponse, _ data: Data, _ task: SessionTask
    ) -> @Sendable () async -> Shared<SerializedContent>? {
        let (serialization, completion) = (task.plan.serialization, task.plan.completion)
        return {
            (serialization?(data, response) ?? completion?.content(data, of: response)).map { Shared($0) }
        }
    }
}

extension SessionError {
    /// A body was read that cannot be read again, and the request has to be sent again.
    static func bodyExhausted(_ sentence: String, _ url: URL) -> SessionError {
        SessionError(
            .requestBodyStreamExhausted, "\(sentence) cannot be read again",
            advice: "send the body as data, as a file or as a source that can be rewound", failingURL: url)
    }
}
