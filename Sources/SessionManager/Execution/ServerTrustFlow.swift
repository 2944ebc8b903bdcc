// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// Asks the session's delegate about the servers of one task; made when the first handshake waits for it.
final class ServerTrustFlow {
    /// A server that shows another certificate each time would be asked about for ever.
    private static let mostQuestions = 10

    private var machine = AuthenticationStateMachine()
    private var questions = 0
    /// The server that the trust roots judge, since the delegate left it to the default.
    private var leftToRoots: String?

    /// What judges the handshakes of the next exchange with an origin.
    func judge(_ approvals: ServerTrustCache, _ origin: String) -> TrustEvaluator.Judge {
        leftToRoots == origin ? .roots : approvals.judge(for: origin)
    }

    /// A handshake was left undecided.
    ///
    /// - Parameter error: the failure of the task where the delegate is not asked any more.
    func undecided(
        _ peer: PeerTrust, _ error: SessionError, _ chain: RequestChain, _ approvals: ServerTrustCache?
    ) -> NextStep {
        questions += 1
        guard questions <= Self.mostQuestions else { return .finishFailed(error) }
        let (task, url) = (chain.task, chain.request.url)
        let challenge = AuthenticationChallenge(
            method: .serverTrust, host: url.host() ?? peer.host, port: Origin(url)?.port ?? 0, peerTrust: peer
        )
        task.publish(.challenged(challenge))
        return follow(machine.challenged([challenge], handler: .session), peer, chain, approvals)
    }

    private func follow(
        _ step: AuthenticationStateMachine.Step, _ peer: PeerTrust, _ chain: RequestChain,
        _ approvals: ServerTrustCache?
    ) -> NextStep {
        switch step {
        case .ignore, .withoutCredential: return .nothing
        case .ask(let challenge, let ticket):
            return .ask(
                AsyncStep(question(challenge, chain.task.session)) { [self] _, answer in
                    follow(machine.answered(answer, ticket: ticket), peer, chain, approvals)
                })
        case .evaluateTrust:
            // The next handshake judges; a refusal is the error of the task then.
            leftToRoots = chain.origin
            return .send(chain.request)
        case .proceed:
            if let leaf = peer.certificates.first {
                approvals?.approve(leaf.der, for: chain.origin)
            }
            return .send(chain.request)
        case .fail(let error):
            let error =
                (error as? SessionError)
                ?? SessionError(.userCancelledAuthentication, "\(error)", underlying: error)
            return .finishFailed(error.with(failingURL: chain.request.url))
        }
    }

    private func question(
        _ challenge: AuthenticationChallenge, _ session: Session
    ) -> @Sendable () async -> AuthenticationFlow.Answer {
        {
            do {
                guard let judge = session.serverJudge else { return .success(.performDefaultHandling) }
                return .success(try await judge.session(session, didReceive: challenge))
            } catch {
                return .failure(error)
            }
        }
    }
}

extension SessionError {
    /// The server whose handshake is undecided.
    var undecidedPeer: PeerTrust? {
        guard let refusal = underlying as? TrustRefusal, refusal.step == .undecided else { return nil }
        return refusal.peer
    }
}
