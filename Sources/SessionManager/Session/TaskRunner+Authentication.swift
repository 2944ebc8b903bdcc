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

/// A name and a password for a scheme that libcurl carries out.
struct LibraryCredentials: Equatable {
    let scheme: AuthenticationMethod
    let isProxy: Bool
    let user: String
    let password: String
}

extension TaskRunner {
    /// Whether there is anybody or anything to answer a challenge with.
    var answersChallenges: Bool {
        let plan = task.plan
        return plan.options.challengeHandler != nil || plan.delegate != nil || plan.options.credential != nil
    }

    private var handlerKind: AuthenticationStateMachine.Handler {
        task.plan.options.challengeHandler != nil || task.plan.delegate != nil ? .task : .none
    }

    /// Whether a URL is of the origin that the task was made for.
    func isAtHome(_ url: URL) -> Bool {
        guard let origin = Origin(url) else { return false }
        return origin == Origin(task.originalRequest.url)
    }

    /// A response that asks for credentials is complete.
    func authenticate(_ response: SessionResponse) {
        let authentication = authentication ?? TaskAuthentication()
        self.authentication = authentication
        let url = response.url
        let offers = AuthenticationChallenge.offers(
            in: response, host: url.host() ?? "", port: Origin(url)?.port ?? 0,
            // Meant for the server that was asked, not for whoever it sends us to, and not for a proxy.
            credential: response.statusCode == 401 && isAtHome(url) ? task.plan.options.credential : nil)
        if let offer = offers.first { task.tell(.challenged(offer)) }
        follow(authentication.machine.challenged(offers, handler: handlerKind), response)
    }

    private func follow(_ step: AuthenticationStateMachine.Step, _ response: SessionResponse) {
        switch step {
        case .ignore: break
        case .withoutCredential: finish(response)
        case .fail(let error):
            end(
                (error as? SessionError)
                    ?? SessionError(
                        .userCancelledAuthentication, "\(error)", failingURL: request.url, underlying: error))
        case .evaluateTrust: finish(response)
        case .ask(let challenge, let ticket): answer(challenge, ticket, response)
        case .proceed(let credential, let challenge): proceed(credential, challenge, response)
        }
    }

    private func answer(_ challenge: AuthenticationChallenge, _ ticket: Int, _ response: SessionResponse) {
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
                runner.follow(machine.machine.answered(disposition, ticket: ticket), response)
            case .failure(let error):
                runner.follow(machine.machine.answered(with: error, ticket: ticket), response)
            }
        }
    }

    private func proceed(
        _ credential: Credential, _ challenge: AuthenticationChallenge, _ response: SessionResponse
    ) {
        var next = request
        if let field = credential.authorization(for: challenge.method) {
            authentication?.forLibrary = nil
            next.headerFields[challenge.isProxy ? .proxyAuthorization : .authorization] = field
        } else if case .password(let user, let password) = credential {
            // libcurl writes the field itself, and a field of ours would be sent instead.
            next.headerFields[challenge.isProxy ? .proxyAuthorization : .authorization] = nil
            authentication?.forLibrary = LibraryCredentials(
                scheme: challenge.method, isProxy: challenge.isProxy, user: user, password: password)
        } else {
            return finish(response)
        }
        send(next)
    }
}
