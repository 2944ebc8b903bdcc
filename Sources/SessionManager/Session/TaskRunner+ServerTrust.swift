// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import SessionCore

/// What a task has learned about the servers that the session's delegate is asked about.
final class TaskServerTrust {
    var machine = AuthenticationStateMachine()
    var questions = 0
    /// The server that the trust roots judge, since the delegate left it to the default.
    var leftToRoots: String?

    /// A server that shows another certificate each time would be asked about for ever.
    static var mostQuestions: Int { 10 }
}

extension TaskRunner {
    /// What judges the handshakes of the next exchange.
    func judge(_ approvals: ServerApprovals, _ origin: String) -> TrustEvaluator.Judge {
        serverTrust?.leftToRoots == origin ? .roots : approvals.judge(for: origin)
    }

    /// The handshake was left undecided: the session's delegate is asked about the server.
    func askAboutServer(_ peer: PeerTrust, _ error: SessionError) {
        let trust = serverTrust ?? TaskServerTrust()
        serverTrust = trust
        trust.questions += 1
        guard trust.questions <= TaskServerTrust.mostQuestions else { return end(error) }
        let url = request.url
        let challenge = AuthenticationChallenge(
            method: .serverTrust, host: url.host() ?? peer.host, port: Origin(url)?.port ?? 0, peerTrust: peer
        )
        task.tell(.challenged(challenge))
        follow(trust.machine.challenged([challenge], handler: .session), peer)
    }

    private func follow(_ step: AuthenticationStateMachine.Step, _ peer: PeerTrust) {
        switch step {
        case .ignore, .withoutCredential: break
        case .ask(let challenge, let ticket): answer(challenge, ticket, peer)
        case .evaluateTrust:
            // The next handshake judges; a refusal is the error of the task then.
            serverTrust?.leftToRoots = request.url.originText
            send(request)
        case .proceed:
            if let leaf = peer.certificates.first {
                engine.approvals?.approve(leaf.der, for: request.url.originText)
            }
            send(request)
        case .fail(let error):
            let error =
                (error as? SessionError)
                ?? SessionError(.userCancelledAuthentication, "\(error)", underlying: error)
            end(error.with(failingURL: request.url))
        }
    }

    private func answer(_ challenge: AuthenticationChallenge, _ ticket: Int, _ peer: PeerTrust) {
        let session = task.session
        ask { () async -> Result<ChallengeDisposition, any Error> in
            do {
                guard let judge = session.serverJudge else { return .success(.performDefaultHandling) }
                return .success(try await judge.session(session, didReceive: challenge))
            } catch {
                return .failure(error)
            }
        } then: { runner, answer in
            guard let trust = runner.serverTrust else { return }
            switch answer {
            case .success(let disposition):
                runner.follow(trust.machine.answered(disposition, ticket: ticket), peer)
            case .failure(let error): runner.follow(trust.machine.answered(with: error, ticket: ticket), peer)
            }
        }
    }
}

extension SessionError {
    /// The server that nobody has decided about.
    var undecidedPeer: PeerTrust? {
        guard let refusal = underlying as? TrustRefusal, refusal.step == .undecided else { return nil }
        return refusal.peer
    }
}
