// SPDX-License-Identifier: Apache-2.0

import SessionCore

// What asks for credentials, or about a server, and what follows the answer.
extension RequestSteps {
    func answerChallenge() -> NextStep {
        transfer?.response.map { authenticate(.response($0)) } ?? .nothing
    }

    func answerTunnel(_ error: SessionError) -> NextStep {
        transfer?.tunnelRefusal.map { authenticate(.tunnel($0, error)) } ?? .fail(error)
    }

    private func authenticate(_ demand: CredentialDemand) -> NextStep {
        let flow = authentication ?? AuthenticationFlow()
        authentication = flow
        return follow(flow.challenged(demand, chain, engine), flow, demand)
    }

    private func follow(
        _ step: AuthenticationFlow.Step, _ flow: AuthenticationFlow, _ demand: CredentialDemand
    ) -> NextStep {
        switch step {
        case .nothing: return .nothing
        case .ask(let question, let ticket):
            return .ask(
                AsyncStep(question) { steps, answer in
                    let step = flow.answered(answer, ticket: ticket, demand, steps.chain)
                    return steps.follow(step, flow, demand)
                })
        case .send(let next): return send(next)
        case .fail(let error): return .end(error)
        case .decline:
            switch demand {
            case .response(let response): return .finish(response)
            case .tunnel(_, let error): return .fail(error)
            }
        }
    }

    /// A handshake waits for the session's delegate.
    func askAboutServer(_ error: SessionError) -> NextStep {
        guard let peer = error.undecidedPeer else { return .fail(error) }
        let flow = serverTrust ?? ServerTrustFlow()
        serverTrust = flow
        return follow(flow.undecided(peer, error, chain, engine.approvals), flow, peer)
    }

    private func follow(_ step: ServerTrustFlow.Step, _ flow: ServerTrustFlow, _ peer: PeerTrust) -> NextStep
    {
        switch step {
        case .nothing: return .nothing
        case .ask(let question, let ticket):
            return .ask(
                AsyncStep(question) { steps, answer in
                    let step = flow.answered(
                        answer, ticket: ticket, by: peer, steps.chain, steps.engine.approvals)
                    return steps.follow(step, flow, peer)
                })
        case .sendAgain: return send(chain.request)
        case .fail(let error): return .end(error)
        }
    }
}
