// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore

/// What a task has learned about credentials.
final class TaskAuthentication {
    var machine = AuthenticationStateMachine()
    /// What libcurl is to carry out: schemes with several rounds.
    var forLibrary: LibraryCredentials?
}

/// A name and a password for a scheme that libcurl carries out; an object, since hardly any transfer has them.
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

/// What wants credentials.
enum CredentialDemand {
    /// A response, which is the task's where nobody has any.
    case response(SessionResponse)
    /// A proxy that makes no tunnel without them, which is this error where nobody has any.
    case tunnel(SessionResponse, SessionError)

    var response: SessionResponse {
        switch self {
        case .response(let response), .tunnel(let response, _): response
        }
    }
}

extension TaskRunner {
    /// Whether there is anybody or anything to answer a challenge with.
    var answersChallenges: Bool {
        let plan = task.plan
        return plan.options.challengeHandler != nil || plan.delegate != nil || plan.options.credential != nil
    }

    /// Whether a response is a challenge that somebody or something may answer.
    ///
    /// 407 is one where a proxy of HTTP has passed the request on. What comes through a tunnel or from the server itself is the server's
    /// word, whatever its status, and nobody's password for the proxy is meant for that (RFC 9110 §11.7.1, §15.5.8).
    func answersChallenge(of response: SessionResponse) -> Bool {
        switch response.statusCode {
        case 401: answersChallenges || answers(response, with: addressCredential)
        case 407:
            if let proxy = engine.forwardingProxy(for: response.url) {
                answersChallenges || answers(response, with: proxy.credential)
            } else {
                false
            }
        default: false
        }
    }

    /// User and password of the URL.
    ///
    /// libcurl sends them by Basic of its own accord, where the request has no field about that (RFC 7617 §2).
    private var addressCredential: Credential? {
        guard request.headerFields[.authorization] == nil, let user = request.url.user(percentEncoded: false)
        else { return nil }
        return .password(user: user, password: request.url.password(percentEncoded: false) ?? "")
    }

    /// Whether what stands in an address, and was sent by Basic in vain, can answer a challenge.
    private func answers(_ response: SessionResponse, with credential: Credential?) -> Bool {
        guard let credential else { return false }
        return AuthenticationChallenge.offers(in: response, host: "", port: 0, credential: credential)
            .contains { $0.method.answersForAddress }
    }

    /// Whether a proxy's refusal of a tunnel can be answered.
    func answersRefusal(_ refusal: SessionResponse) -> Bool {
        guard refusal.statusCode == 407 else { return false }
        return answersChallenges || answers(refusal, with: engine.proxy(for: refusal.url)?.credential)
    }

    private var handlerKind: AuthenticationStateMachine.Handler {
        task.plan.options.challengeHandler != nil || task.plan.delegate != nil ? .task : .none
    }

    /// Whether a URL is of the origin that the task was made for.
    func isAtHome(_ url: URL) -> Bool {
        guard let origin = Origin(url) else { return false }
        return origin == Origin(task.originalRequest.url)
    }

    /// A response that asks for credentials is complete, or a proxy wants some before it makes a tunnel.
    func authenticate(_ demand: CredentialDemand) {
        let authentication = authentication ?? TaskAuthentication()
        self.authentication = authentication
        let (response, url) = (demand.response, demand.response.url)
        let proxy = response.statusCode == 407 ? engine.proxy(for: url) : nil
        var offers = AuthenticationChallenge.offers(
            in: response, host: proxy?.host ?? url.host() ?? "", port: proxy?.port ?? Origin(url)?.port ?? 0,
            // Meant for the server that was asked, not for whoever it sends us to, and not for a proxy.
            credential: response.statusCode == 401 && isAtHome(url) ? task.plan.options.credential : nil)
        let address = response.statusCode == 401 ? addressCredential : proxy?.credential
        for index in offers.indices where offers[index].proposedCredential == nil {
            if offers[index].method.answersForAddress { offers[index].proposedCredential = address }
        }
        if let offer = offers.first { task.tell(.challenged(offer)) }
        follow(authentication.machine.challenged(offers, handler: handlerKind), demand)
    }

    /// Nobody has the credentials.
    private func decline(_ demand: CredentialDemand) {
        switch demand {
        case .response(let response): finish(response)
        case .tunnel(_, let error): fail(error)
        }
    }

    private func follow(_ step: AuthenticationStateMachine.Step, _ demand: CredentialDemand) {
        switch step {
        case .ignore: break
        case .withoutCredential: decline(demand)
        case .fail(let error):
            end(
                (error as? SessionError)
                    ?? SessionError(
                        .userCancelledAuthentication, "\(error)", failingURL: request.url, underlying: error))
        case .evaluateTrust: decline(demand)
        case .ask(let challenge, let ticket): answer(challenge, ticket, demand)
        case .proceed(let credential, let challenge): proceed(credential, challenge, demand)
        }
    }

    private func answer(_ challenge: AuthenticationChallenge, _ ticket: Int, _ demand: CredentialDemand) {
        let (task, handler, delegate) = (task, task.plan.options.challengeHandler, task.plan.delegate)
        ask { () async -> Result<ChallengeDisposition, any Error> in
            do {
                if let handler { return .success(try await handler(challenge)) }
                guard let delegate else { return .success(.performDefaultHandling) }
                return .success(try await delegate.task(task, didReceive: challenge))
            } catch {
                return .failure(error)
            }
        } then: { runner, answer in
            guard let machine = runner.authentication else { return }
            switch answer {
            case .success(let disposition):
                runner.follow(machine.machine.answered(disposition, ticket: ticket), demand)
            case .failure(let error):
                runner.follow(machine.machine.answered(with: error, ticket: ticket), demand)
            }
        }
    }

    private func proceed(
        _ credential: Credential, _ challenge: AuthenticationChallenge, _ demand: CredentialDemand
    ) {
        var next = request
        // A field of ours would go through the tunnel, to the server.
        if case .response = demand, let field = credential.authorization(for: challenge.method) {
            authentication?.forLibrary = nil
            next.headerFields[challenge.isProxy ? .proxyAuthorization : .authorization] = field
        } else if case .password(let user, let password) = credential {
            // libcurl writes the field itself, and a field of ours would be sent instead.
            next.headerFields[challenge.isProxy ? .proxyAuthorization : .authorization] = nil
            authentication?.forLibrary = LibraryCredentials(
                scheme: challenge.method, isProxy: challenge.isProxy, user: user, password: password)
        } else {
            return decline(demand)
        }
        send(next)
    }
}

extension AuthenticationMethod {
    /// Whether user and password of a URL answer it: Basic has been tried with them, and the others take more than these.
    fileprivate var answersForAddress: Bool { self == .digest || self == .ntlm }
}
