// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore

/// Answers the challenges of servers and proxies for one task; made when the first one comes.
final class AuthenticationFlow {
    typealias Answer = Result<ChallengeDisposition, any Error>

    private var machine = AuthenticationStateMachine()
    /// What libcurl authenticates with by itself: schemes with several rounds.
    private(set) var libraryCredentials: LibraryCredentials?

    /// A response that asks for credentials is complete, or a proxy wants some before it makes a tunnel.
    func challenged(_ demand: CredentialDemand, _ chain: RequestChain, _ engine: any TransferCarrier)
        -> NextStep
    {
        let (task, response, url) = (chain.task, demand.response, demand.response.url)
        let proxy = response.statusCode == 407 ? engine.proxy(for: url) : nil
        var offers = AuthenticationChallenge.offers(
            in: response, host: proxy?.host ?? url.host() ?? "", port: proxy?.port ?? Origin(url)?.port ?? 0,
            // Meant for the server that was asked: not for one that it redirects to, and not for a proxy.
            credential: response.statusCode == 401 && chain.isAtHome(url)
                ? task.plan.options.credential : nil,
            hasBody: chain.request.body != nil)
        let address = response.statusCode == 401 ? chain.addressCredential : proxy?.credential
        for index in offers.indices where offers[index].proposedCredential == nil {
            if offers[index].method.answersForAddress { offers[index].proposedCredential = address }
        }
        if let offer = offers.first { task.publish(.challenged(offer)) }
        let plan = task.plan
        let handler: AuthenticationStateMachine.Handler =
            plan.options.challengeHandler != nil || plan.delegate != nil ? .task : .none
        return follow(machine.challenged(offers, handler: handler), demand, chain)
    }

    /// The server that asked has let the request in, and redirects it.
    func redirected() { machine.letIn() }

    /// libcurl would show the credentials of one origin to the next.
    func forgetLibraryCredentials() { libraryCredentials = nil }

    private func follow(
        _ step: AuthenticationStateMachine.Step, _ demand: CredentialDemand, _ chain: RequestChain
    ) -> NextStep {
        switch step {
        case .ignore: .nothing
        case .withoutCredential, .evaluateTrust: demand.declined
        case .fail(let error): .finishFailed(chain.sessionError(error, .userCancelledAuthentication))
        case .ask(let challenge, let ticket):
            .ask(
                AsyncStep(question(challenge, chain.task)) { [self] _, answer in
                    follow(machine.answered(answer, ticket: ticket), demand, chain)
                })
        case .proceed(let credential, let challenge): send(credential, challenge, demand, chain)
        }
    }

    private func question(_ challenge: AuthenticationChallenge, _ task: SessionTask)
        -> @Sendable () async -> Answer
    {
        let (handler, delegate) = (task.plan.options.challengeHandler, task.plan.delegate)
        return {
            do {
                if let handler { return .success(try await handler(challenge)) }
                guard let delegate else { return .success(.performDefaultHandling) }
                return .success(try await delegate.task(task, didReceive: challenge))
            } catch {
                return .failure(error)
            }
        }
    }

    private func send(
        _ credential: Credential, _ challenge: AuthenticationChallenge, _ demand: CredentialDemand,
        _ chain: RequestChain
    ) -> NextStep {
        var next = chain.request
        let name: HTTPField.Name = challenge.isProxy ? .proxyAuthorization : .authorization
        // A field would go through a tunnel, to the server.
        if case .response = demand, let field = credential.authorization(for: challenge.method) {
            libraryCredentials = nil
            next.headerFields[name] = field
        } else if case .password(let user, let password) = credential {
            // libcurl writes the field itself, unless the request has one.
            next.headerFields[name] = nil
            libraryCredentials = LibraryCredentials(
                scheme: challenge.method, isProxy: challenge.isProxy, user: user, password: password)
        } else {
            return demand.declined
        }
        return .send(next)
    }
}

extension AuthenticationStateMachine {
    mutating func answered(_ answer: AuthenticationFlow.Answer, ticket: Int) -> Step {
        switch answer {
        case .success(let disposition): answered(disposition, ticket: ticket)
        case .failure(let error): answered(with: error, ticket: ticket)
        }
    }
}

/// A name and a password for a scheme that libcurl carries out; an object, since hardly any transfer has
/// them.
final class LibraryCredentials: Sendable, Equatable {
    let scheme: AuthenticationMethod
    let isProxy: Bool
    let user: String
    let password: String

    init(scheme: AuthenticationMethod, isProxy: Bool, user: String, password: String) {
        self.scheme = scheme
        self.isProxy = isProxy
        self.user = user
        self.password = password
    }

    static func == (one: LibraryCredentials, other: LibraryCredentials) -> Bool {
        one.scheme == other.scheme && one.isProxy == other.isProxy && one.user == other.user
            && one.password == other.password
    }
}

/// What asks for credentials.
enum CredentialDemand {
    /// A response, which is the task's where nothing has any, unless its content was cut off by this error.
    case response(SessionResponse, SessionError?)
    /// A proxy that makes no tunnel without them, which is this error where nothing has any.
    case tunnel(SessionResponse, SessionError)

    var response: SessionResponse {
        switch self {
        case .response(let response, _), .tunnel(let response, _): response
        }
    }

    /// What follows where nothing has credentials.
    var declined: NextStep {
        switch self {
        case .response(let response, nil): .useResponse(response)
        case .response(_, let error?), .tunnel(_, let error): .failTry(error)
        }
    }
}

// Which responses are challenges.
extension RequestChain {
    /// Whether a response is a challenge that a handler, a delegate or a credential may answer.
    ///
    /// 407 is one where a proxy of HTTP has passed the request on. What comes through a tunnel or from the
    /// server itself is the server's own response, whatever its status, and no password for the proxy is
    /// meant for that (RFC 9110 §11.7.1, §15.5.8).
    func isChallenge(_ response: SessionResponse, _ engine: any TransferCarrier) -> Bool {
        switch response.statusCode {
        case 401: hasAnswers || answers(response, with: addressCredential)
        case 407:
            if let proxy = engine.forwardingProxy(for: response.url) {
                hasAnswers || answers(response, with: proxy.credential)
            } else {
                false
            }
        default: false
        }
    }

    /// Whether a proxy's refusal of a tunnel is a challenge that may be answered.
    func isTunnelChallenge(_ refusal: SessionResponse, _ engine: any TransferCarrier) -> Bool {
        guard refusal.statusCode == 407 else { return false }
        return hasAnswers || answers(refusal, with: engine.proxy(for: refusal.url)?.credential)
    }

    /// User and password of the URL.
    ///
    /// libcurl sends them by Basic on its own, where the request has no such field (RFC 7617 §2).
    fileprivate var addressCredential: Credential? {
        guard request.headerFields[.authorization] == nil, let user = request.url.user(percentEncoded: false)
        else { return nil }
        return .password(user: user, password: request.url.password(percentEncoded: false) ?? "")
    }

    private var hasAnswers: Bool {
        let plan = task.plan
        return plan.options.challengeHandler != nil || plan.delegate != nil || plan.options.credential != nil
    }

    /// Whether a credential of an address, which was sent by Basic in vain, can answer a challenge.
    private func answers(_ response: SessionResponse, with credential: Credential?) -> Bool {
        guard let credential else { return false }
        return AuthenticationChallenge.offers(
            in: response, host: "", port: 0, credential: credential, hasBody: request.body != nil
        ).contains { $0.method.answersForAddress }
    }
}

extension AuthenticationMethod {
    /// Whether user and password of a URL answer it: Basic has been tried with them, and the others take more
    /// than these.
    fileprivate var answersForAddress: Bool { self == .digest || self == .ntlm }
}
