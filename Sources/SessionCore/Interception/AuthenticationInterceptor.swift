// SPDX-License-Identifier: Apache-2.0

/// Signs requests with a credential and refreshes it, once for all requests that it failed.
///
/// A request that was refused because its credential had ended is sent again with the new one. While a
/// refresh runs, new requests wait for it. A refresh that fails, fails all waiting requests, and retries
/// after that, until a new request or a new ``setCredential(_:)`` gives it another chance.
///
/// The authenticator's own requests must not go through this interceptor: they would wait for themselves.
public actor AuthenticationInterceptor<A: Authenticator>: RequestInterceptor {
    private struct Waiter {
        let identifier: Int
        let continuation: CheckedContinuation<A.Credential, any Error>
    }

    private let authenticator: A
    private var machine: CredentialRefreshStateMachine<A.Credential>
    private var waiters: [Waiter] = []
    private var lastWaiter = 0

    /// An interceptor; without a credential every request fails until one is set.
    ///
    /// - Parameter window: how often is too often; nil for no limit.
    public init(_ authenticator: A, credential: A.Credential? = nil, window: RefreshWindow? = RefreshWindow())
    {
        self.authenticator = authenticator
        machine = CredentialRefreshStateMachine(credential, window: window)
    }

    /// The credential at the moment.
    public var credential: A.Credential? { machine.credential }

    /// Takes a credential from elsewhere, for instance after a login; nil after a logout.
    ///
    /// A refresh under way no longer counts; the requests that wait for it continue with the new credential.
    public func setCredential(_ credential: A.Credential?) { settle(machine.replaced(by: credential)) }

    /// The request with the credential.
    public func adapt(_ request: SessionRequest, state: RequestState) async throws -> SessionRequest {
        let requiresRefresh = machine.credential?.requiresRefresh ?? false
        let step = machine.adapting(
            isFirstTry: state.retryCount == 0, requiresRefresh: requiresRefresh, at: state.instant)
        let credential = try await perform(step)
        var request = request
        try authenticator.apply(credential, to: &request)
        return request
    }

    /// Whether the request is sent again: yes, after a refresh, where its credential was refused.
    ///
    /// Behind a redirect to another origin, where the credential is missing, a refusal is not about it.
    public func retry(
        _ request: SessionRequest, state: RequestState, after error: any Error
    ) async -> RetryDecision {
        guard
            let response = state.response ?? SessionError.chain(of: error).lazy.compactMap(\.response).first,
            authenticator.isRefused(state.redirectedRequest ?? request, response: response, error: error),
            request.body?.isRewindable ?? true
        else { return .doNotRetry }
        let credential = machine.credential
        let isCurrent = credential.map { authenticator.isRequest(request, signedWith: $0) } ?? true
        if isCurrent, let credential, let redirected = state.redirectedRequest,
            !authenticator.isRequest(redirected, signedWith: credential)
        {
            return .doNotRetry
        }
        do {
            _ = try await perform(machine.refused(isCurrent: isCurrent, at: state.instant))
            return .retry
        } catch {
            return .doNotRetryWithError(error)
        }
    }

    private func perform(_ step: CredentialRefreshStateMachine<A.Credential>.Step) async throws
        -> A.Credential
    {
        switch step {
        case .proceed(let credential): return credential
        case .fail(let error): throw error
        case .wait: return try await wait()
        case .refresh(let credential, let number):
            // A task of its own: the caller may be cancelled, and the others still wait.
            Task { await refresh(credential, number: number) }
            return try await wait()
        }
    }

    private func refresh(_ credential: A.Credential, number: Int) async {
        do {
            settle(machine.refreshed(try await authenticator.refresh(credential), number: number))
        } catch {
            settle(machine.refreshFailed(error, number: number))
        }
    }

    private func wait() async throws -> A.Credential {
        lastWaiter += 1
        let identifier = lastWaiter
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { continuation in
                waiters.append(Waiter(identifier: identifier, continuation: continuation))
            }
        } onCancel: {
            Task { await self.cancelWaiter(identifier) }
        }
    }

    private func cancelWaiter(_ identifier: Int) {
        guard let index = waiters.firstIndex(where: { $0.identifier == identifier }) else { return }
        waiters.remove(at: index).continuation.resume(throwing: CancellationError())
    }

    private func settle(_ outcome: CredentialRefreshStateMachine<A.Credential>.Outcome) {
        let result: Result<A.Credential, any Error>
        switch outcome {
        case .ignore: return
        case .proceed(let credential): result = .success(credential)
        case .fail(let error): result = .failure(error)
        }
        let resumed = waiters
        waiters = []
        for waiter in resumed { waiter.continuation.resume(with: result) }
    }
}

/// How many refreshes are too many.
public struct RefreshWindow: Sendable, Equatable {
    /// In which time; 30 s.
    public var interval: Duration
    /// How many refreshes are allowed in it; 5.
    public var limit: Int

    /// A window.
    public init(interval: Duration = .seconds(30), limit: Int = 5) {
        self.interval = interval
        self.limit = limit
    }
}

/// Why a request gets no credential.
enum AuthenticationFailure {
    static let missingCredential = SessionError(
        .userAuthenticationRequired, "there is no credential to sign the request with",
        advice: "log in and set the interceptor's credential")

    static func excessiveRefresh(_ window: RefreshWindow) -> SessionError {
        SessionError(
            .userAuthenticationRequired,
            "the credential was refreshed \(window.limit) times within \(window.interval) and is still refused",
            advice: "log in again; the server may not accept what it hands out")
    }
}
