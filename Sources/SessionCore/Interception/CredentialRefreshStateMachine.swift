// SPDX-License-Identifier: Apache-2.0

/// Decides when a credential is refreshed: once for all requests that it failed, never too often.
///
/// Pure; its owner stores the waiting requests and notifies them of the end of a refresh.
package struct CredentialRefreshStateMachine<Credential: Sendable>: ~Copyable, Sendable {
    /// What a request that is to be signed, or that was refused, has to do.
    package enum Step: Sendable {
        /// Sign with this, or be sent again, which signs with this.
        case proceed(Credential)
        /// Wait for the refresh that is under way.
        case wait
        /// Begin a refresh of this credential, and wait for it; its end is reported with the number.
        case refresh(Credential, number: Int)
        case fail(any Error)
    }

    /// What a credential or an error that comes means for the requests that wait.
    package enum Outcome: Sendable {
        /// Nothing: the refresh has been overtaken by a new credential.
        case ignore
        /// They proceed with this.
        case proceed(Credential)
        /// They fail with this.
        case fail(any Error)
    }

    private enum State: Sendable {
        case empty
        case ready(Credential)
        case refreshing(Credential, number: Int)
        /// The credential stays, in case that the failure was one of the network.
        case failed(Credential, any Error)
    }

    private let window: RefreshWindow?
    private var state: State
    private var number = 0
    private var refreshes: [ContinuousClock.Instant] = []

    package init(_ credential: Credential?, window: RefreshWindow?) {
        self.window = window
        state = credential.map(State.ready) ?? .empty
    }

    package var credential: Credential? {
        switch state {
        case .empty: nil
        case .ready(let credential), .refreshing(let credential, _), .failed(let credential, _): credential
        }
    }

    /// A request is to be signed; the first try of one gives a failed refresh another chance.
    package mutating func adapting(
        isFirstTry: Bool, requiresRefresh: Bool, at now: ContinuousClock.Instant
    ) -> Step {
        switch state {
        case .empty: return .fail(AuthenticationFailure.missingCredential)
        case .refreshing: return .wait
        case .failed(let credential, let error):
            guard isFirstTry else { return .fail(error) }
            state = .ready(credential)
            return requiresRefresh ? begin(credential, at: now) : .proceed(credential)
        case .ready(let credential):
            return requiresRefresh ? begin(credential, at: now) : .proceed(credential)
        }
    }

    /// A request was refused for its credential: the current one if `isCurrent`, else an older one.
    package mutating func refused(isCurrent: Bool, at now: ContinuousClock.Instant) -> Step {
        switch state {
        case .empty: return .fail(AuthenticationFailure.missingCredential)
        case .refreshing: return .wait
        case .failed(let credential, let error): return isCurrent ? .fail(error) : .proceed(credential)
        case .ready(let credential): return isCurrent ? begin(credential, at: now) : .proceed(credential)
        }
    }

    /// A refresh has brought a credential.
    package mutating func refreshed(_ credential: Credential, number: Int) -> Outcome {
        guard case .refreshing(_, number) = state else { return .ignore }
        state = .ready(credential)
        return .proceed(credential)
    }

    package mutating func refreshFailed(_ error: any Error, number: Int) -> Outcome {
        guard case .refreshing(let credential, number) = state else { return .ignore }
        state = .failed(credential, error)
        return .fail(error)
    }

    /// Another part of the program sets a credential, for instance a login, or removes it with nil.
    package mutating func replaced(by credential: Credential?) -> Outcome {
        refreshes = []
        guard let credential else {
            state = .empty
            return .fail(AuthenticationFailure.missingCredential)
        }
        state = .ready(credential)
        return .proceed(credential)
    }

    private mutating func begin(_ credential: Credential, at now: ContinuousClock.Instant) -> Step {
        if let window {
            refreshes.removeAll { now - $0 >= window.interval }
            guard refreshes.count < window.limit else {
                return .fail(AuthenticationFailure.excessiveRefresh(window))
            }
            refreshes.append(now)
        }
        number += 1
        state = .refreshing(credential, number: number)
        return .refresh(credential, number: number)
    }
}
