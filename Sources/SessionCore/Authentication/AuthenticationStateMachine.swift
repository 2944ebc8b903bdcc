// SPDX-License-Identifier: Apache-2.0

/// Decides what answers the challenges of a task: handler, security policy, proposed credential, or nothing.
///
/// Each question has a ticket, so that an answer that comes late or twice means nothing.
package struct AuthenticationStateMachine: ~Copyable, Sendable {
    /// Who is asked first.
    package enum Handler: Sendable {
        case none
        /// The handler of tasks; the security policy judges the certificates that it leaves to the default.
        case task
        /// The handler of the whole session: the security policy is not asked at all.
        case session
    }

    /// Who judges certificates.
    package enum Judge: Sendable, Equatable {
        /// The manager's security policy.
        case policy
        /// The trusted roots of the system alone.
        case system
    }

    /// What is to be done next.
    package enum Step: Sendable {
        /// Nothing: the answer was late.
        case ignore
        /// Put this to the handler; its answer goes to `answered`.
        case ask(AuthenticationChallenge, ticket: Int)
        /// Leave the server's certificates to this judge; where it refuses them, its error is the task's.
        case evaluateTrust(Judge)
        /// Send the request again, or continue the handshake, with this credential for this challenge.
        case proceed(Credential, AuthenticationChallenge)
        /// Go on without: the response is the answer, or the handshake has no certificate to show.
        case withoutCredential
        /// End the task.
        case fail(any Error)
    }

    private enum State: Sendable {
        case idle
        case asking(AuthenticationChallenge, rest: ArraySlice<AuthenticationChallenge>, Handler)
        case ended
    }

    /// Where a credential counts.
    private struct Space: Hashable {
        let method: AuthenticationMethod
        let realm: String?
        let host: String
        let port: Int
        let isProxy: Bool

        init(_ challenge: AuthenticationChallenge) {
            method = challenge.method
            realm = challenge.realm
            host = challenge.host
            port = challenge.port
            isProxy = challenge.isProxy
        }
    }

    // A server that invents a new realm each time would be sent credentials for ever.
    static let mostRounds = 10
    static let mostStaleRounds = 2

    private var state: State = .idle
    private var ticket = 0
    private var rounds = 0
    private var staleRounds = 0
    private var used: [Space: [Credential]] = [:]

    package init() {}

    /// A response or a handshake asks; ``AuthenticationChallenge/offers(in:host:port:credential:)`` has
    /// sorted the offers, the strongest first.
    package mutating func challenged(_ offers: [AuthenticationChallenge], handler: Handler) -> Step {
        if case .ended = state { return .ignore }
        if let stale = offers.first(where: \.isStale), staleRounds < Self.mostStaleRounds {
            staleRounds += 1
            used[Space(stale)] = nil
        }
        return next(offers[...], handler)
    }

    /// The handler has answered.
    package mutating func answered(_ disposition: ChallengeDisposition, ticket: Int) -> Step {
        guard case .asking(let challenge, let rest, let handler) = state, ticket == self.ticket else {
            return .ignore
        }
        state = .idle
        switch disposition {
        case .useCredential(let credential):
            guard credential.fits(challenge.method) else {
                return fail(
                    SessionError(
                        .userAuthenticationRequired,
                        "a \(credential) cannot answer a challenge for \(challenge.method)",
                        advice: "use a credential of that kind, or performDefaultHandling"))
            }
            return send(credential, for: challenge)
        case .performDefaultHandling: return byDefault(challenge, rest, handler)
        case .cancel: return fail(SessionError(.cancelled, "authentication was cancelled"))
        case .rejectProtectionSpace:
            if challenge.method == .serverTrust {
                return fail(
                    SessionError(
                        .certificateUntrusted,
                        "the certificates of \(TextQuote(challenge.host)) were refused",
                        domain: .security))
            }
            return next(rest, handler)
        }
    }

    /// The handler has answered with an error: the task ends with that very error.
    package mutating func answered(with error: any Error, ticket: Int) -> Step {
        guard case .asking = state, ticket == self.ticket else { return .ignore }
        return fail(error)
    }

    /// A redirect followed what was sent: it was not refused, and may be sent again; the rounds still count.
    package mutating func letIn() { used = [:] }

    /// The task is over: nothing more is asked, and later answers mean nothing.
    package mutating func ended() { state = .ended }

    private mutating func next(_ offers: ArraySlice<AuthenticationChallenge>, _ handler: Handler) -> Step {
        state = .idle
        guard var challenge = offers.first else { return .withoutCredential }
        challenge.previousFailureCount = used[Space(challenge)]?.count ?? 0
        if case .none = handler { return byDefault(challenge, offers.dropFirst(), handler) }
        ticket += 1
        state = .asking(challenge, rest: offers.dropFirst(), handler)
        return .ask(challenge, ticket: ticket)
    }

    private mutating func byDefault(
        _ challenge: AuthenticationChallenge, _ rest: ArraySlice<AuthenticationChallenge>, _ handler: Handler
    ) -> Step {
        if challenge.method == .serverTrust {
            if case .session = handler { return .evaluateTrust(.system) }
            return .evaluateTrust(.policy)
        }
        // A proposed credential answers the best offer that it can answer.
        for offer in [challenge] + rest {
            guard let credential = offer.proposedCredential, credential.fits(offer.method) else { continue }
            return send(credential, for: offer)
        }
        return .withoutCredential
    }

    private mutating func send(_ credential: Credential, for challenge: AuthenticationChallenge) -> Step {
        guard challenge.method.isHTTP else { return .proceed(credential, challenge) }
        let space = Space(challenge)
        guard rounds < Self.mostRounds, used[space]?.contains(credential) != true else {
            return .withoutCredential
        }
        rounds += 1
        used[space, default: []].append(credential)
        return .proceed(credential, challenge)
    }

    private mutating func fail(_ error: any Error) -> Step {
        state = .ended
        return .fail(error)
    }
}

/// Limits how often libcurl answers the challenges of one exchange by itself.
///
/// To a server that calls each nonce stale (RFC 7616 §3.3) it would send the request for ever.
package struct LibraryRounds: Sendable {
    private var count = 0
    /// Whether a challenge was one too many: it is the response.
    package private(set) var isSpent = false

    package init() {}

    /// libcurl is about to answer a challenge for its scheme; false where it must not.
    package mutating func mayAnswer(_ scheme: AuthenticationMethod) -> Bool {
        // The first challenge of Digest brings the nonce.
        let most =
            scheme == .digest
            ? 1 + AuthenticationStateMachine.mostStaleRounds : AuthenticationStateMachine.mostRounds
        count += 1
        isSpent = count > most
        return !isSpent
    }
}
