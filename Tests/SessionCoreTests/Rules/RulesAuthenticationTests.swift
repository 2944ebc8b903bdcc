// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

struct RulesAuthenticationTests {
    private struct Refusal: Error, Equatable {}
    private let me = Credential.password(user: "me", password: "1")
    private let other = Credential.password(user: "me", password: "2")

    private func challenge(
        _ method: AuthenticationMethod = .basic, realm: String? = "r", proposed: Credential? = nil,
        isProxy: Bool = false,
        isStale: Bool = false
    ) -> AuthenticationChallenge {
        AuthenticationChallenge(
            method: method, realm: realm, host: "a.example", port: 443, isProxy: isProxy,
            proposedCredential: proposed,
            httpChallenge: HTTPChallenge(scheme: "\(method)", parameters: isStale ? ["stale": "TRUE"] : [:]))
    }

    /// A step in one word, and the ticket to answer with.
    private func read(_ step: AuthenticationStateMachine.Step) -> (String, Int) {
        switch step {
        case .ignore: ("ignore", 0)
        case .ask(let challenge, let ticket):
            ("ask \(challenge.method) \(challenge.previousFailureCount)", ticket)
        case .evaluateTrust(let judge): ("evaluate \(judge)", 0)
        case .proceed(let credential, let challenge):
            (
                "proceed \(credential == me ? "me" : credential == other ? "other" : "\(credential)") \(challenge.method)",
                0
            )
        case .withoutCredential: ("without", 0)
        case .fail(let error):
            ("fail \((error as? SessionError).map { "\($0.code.rawValue)" } ?? "\(error)")", 0)
        }
    }

    @Test("AF-148 an error of the handler is the task's error, whatever the transfer says then")
    func handlerError() {
        var machine = AuthenticationStateMachine()
        let (asked, ticket) = read(machine.challenged([challenge()], handler: .task))
        #expect(asked == "ask basic 0")
        #expect(read(machine.answered(with: Refusal(), ticket: ticket)).0 == "fail Refusal()")
        #expect(read(machine.challenged([challenge()], handler: .task)).0 == "ignore")
    }

    @Test("AF-149 an answer that comes later counts, and once only")
    func lateAnswer() {
        var machine = AuthenticationStateMachine()
        let (_, ticket) = read(machine.challenged([challenge()], handler: .task))
        #expect(read(machine.answered(.useCredential(me), ticket: ticket)).0 == "proceed me basic")
        #expect(read(machine.answered(.useCredential(me), ticket: ticket)).0 == "ignore")
        #expect(read(machine.answered(.cancel, ticket: ticket)).0 == "ignore")
        #expect(read(machine.answered(with: Refusal(), ticket: ticket)).0 == "ignore")
    }

    @Test("an answer to an earlier question, or after the end, means nothing")
    func outdatedAnswer() {
        var machine = AuthenticationStateMachine()
        let (_, first) = read(machine.challenged([challenge()], handler: .task))
        let (_, second) = read(machine.challenged([challenge()], handler: .task))
        #expect(read(machine.answered(.cancel, ticket: first)).0 == "ignore")
        machine.ended()
        #expect(read(machine.answered(.useCredential(me), ticket: second)).0 == "ignore")
        #expect(read(machine.challenged([challenge()], handler: .task)).0 == "ignore")
    }

    @Test("AF-150 a handler that cancels: −999")
    func cancel() {
        var machine = AuthenticationStateMachine()
        let (_, ticket) = read(machine.challenged([challenge()], handler: .task))
        #expect(read(machine.answered(.cancel, ticket: ticket)).0 == "fail -999")
    }

    @Test("AF-152 without a handler a wrong credential is sent once, then the 401 is the answer")
    func wrongCredential() {
        var machine = AuthenticationStateMachine()
        let offers = [challenge(proposed: me)]
        #expect(read(machine.challenged(offers, handler: .none)).0 == "proceed me basic")
        #expect(read(machine.challenged(offers, handler: .none)).0 == "without")
        #expect(read(machine.challenged(offers, handler: .none)).0 == "without")
        var empty = AuthenticationStateMachine()
        #expect(read(empty.challenged([challenge()], handler: .none)).0 == "without")
        #expect(read(empty.challenged([], handler: .none)).0 == "without")
    }

    @Test("AF-152 a handler that insists on a refused credential does not loop")
    func sameCredentialTwice() {
        var machine = AuthenticationStateMachine()
        for (credential, count, expected) in [
            (me, 0, "proceed me basic"), (other, 1, "proceed other basic"), (me, 2, "without"),
        ] {
            let (asked, ticket) = read(machine.challenged([challenge()], handler: .task))
            #expect(asked == "ask basic \(count)")
            #expect(read(machine.answered(.useCredential(credential), ticket: ticket)).0 == expected)
        }
    }

    @Test("AF-152 a server that thinks up realms gets a credential ten times at most")
    func manyRealms() {
        var machine = AuthenticationStateMachine()
        var sent = 0
        for round in 0..<100 {
            if read(machine.challenged([challenge(realm: "\(round)", proposed: me)], handler: .none)).0
                != "without"
            {
                sent += 1
            }
        }
        #expect(sent == 10)
    }

    @Test("proxy and server count apart")
    func proxy() {
        var machine = AuthenticationStateMachine()
        #expect(
            read(machine.challenged([challenge(proposed: me, isProxy: true)], handler: .none)).0
                == "proceed me basic")
        #expect(read(machine.challenged([challenge(proposed: me)], handler: .none)).0 == "proceed me basic")
        #expect(
            read(machine.challenged([challenge(proposed: me, isProxy: true)], handler: .none)).0 == "without")
    }

    @Test("a nonce that is too old is no refusal, but not for ever")
    func stale() {
        var machine = AuthenticationStateMachine()
        #expect(
            read(machine.challenged([challenge(.digest, proposed: me)], handler: .none)).0
                == "proceed me digest")
        for _ in 0..<2 {
            let offers = [challenge(.bearer), challenge(.digest, proposed: me, isStale: true)]
            #expect(read(machine.challenged(offers, handler: .none)).0 == "proceed me digest")
        }
        let offers = [challenge(.digest, proposed: me, isStale: true)]
        #expect(read(machine.challenged(offers, handler: .none)).0 == "without")
    }

    @Test("offers are passed over one after the other")
    func rejectSpace() {
        var machine = AuthenticationStateMachine()
        let (first, ticket) = read(
            machine.challenged([challenge(.digest), challenge(.basic)], handler: .task))
        #expect(first == "ask digest 0")
        let (second, next) = read(machine.answered(.rejectProtectionSpace, ticket: ticket))
        #expect(second == "ask basic 0")
        #expect(read(machine.answered(.rejectProtectionSpace, ticket: ticket)).0 == "ignore")
        #expect(read(machine.answered(.rejectProtectionSpace, ticket: next)).0 == "without")
    }

    @Test("by default the proposed credential answers the best offer it fits")
    func proposed() {
        var machine = AuthenticationStateMachine()
        let offers = [
            challenge(.bearer, proposed: me), challenge(.digest, proposed: me),
            challenge(.basic, proposed: me),
        ]
        let (_, ticket) = read(machine.challenged(offers, handler: .task))
        #expect(read(machine.answered(.performDefaultHandling, ticket: ticket)).0 == "proceed me digest")
        #expect(read(machine.challenged([challenge(.clientCertificate)], handler: .none)).0 == "without")
    }

    @Test(
        "a credential of the wrong kind is an error that says so",
        arguments: [
            (AuthenticationMethod.bearer, false), (.serverTrust, false), (.clientCertificate, false),
            (.digest, true), (.ntlm, true),
        ])
    func wrongKind(_ method: AuthenticationMethod, _ fits: Bool) {
        var machine = AuthenticationStateMachine()
        let (_, ticket) = read(machine.challenged([challenge(method)], handler: .task))
        #expect(
            read(machine.answered(.useCredential(me), ticket: ticket)).0
                == (fits ? "proceed me \(method)" : "fail -1013"))
    }

    @Test("the client's identity answers a challenge for its certificate, each time")
    func identity() {
        var machine = AuthenticationStateMachine()
        let credential = Credential.identity(.pkcs12(.file("/etc/device.p12"), passphrase: "s3cret"))
        #expect(!"\(credential)".contains("s3cret"))
        for _ in 0..<3 {
            let offers = [challenge(.clientCertificate, proposed: credential)]
            #expect(
                read(machine.challenged(offers, handler: .none)).0
                    == "proceed \(credential) clientCertificate")
        }
    }

    @Test("AF-153 a handler of the session decides about certificates, the policy is not asked")
    func sessionHandler() {
        var machine = AuthenticationStateMachine()
        let (asked, ticket) = read(machine.challenged([challenge(.serverTrust)], handler: .session))
        #expect(asked == "ask serverTrust 0")
        #expect(
            read(machine.answered(.useCredential(.serverTrust), ticket: ticket)).0
                == "proceed trust in the server serverTrust")
        let (_, again) = read(machine.challenged([challenge(.serverTrust)], handler: .session))
        #expect(read(machine.answered(.performDefaultHandling, ticket: again)).0 == "evaluate system")
    }

    @Test("the policy judges certificates where no handler does, or that of tasks leaves it to the default")
    func policy() {
        for handler in [AuthenticationStateMachine.Handler.none, .task] {
            var machine = AuthenticationStateMachine()
            var (word, ticket) = read(machine.challenged([challenge(.serverTrust)], handler: handler))
            if case .task = handler {
                #expect(word == "ask serverTrust 0")
                (word, ticket) = read(machine.answered(.performDefaultHandling, ticket: ticket))
            }
            #expect(word == "evaluate policy")
            #expect(read(machine.answered(.useCredential(.serverTrust), ticket: ticket)).0 == "ignore")
        }
    }

    @Test("certificates that are passed over are refused with −1202, never let through")
    func rejectTrust() {
        for handler in [AuthenticationStateMachine.Handler.session, .task] {
            var machine = AuthenticationStateMachine()
            let (_, ticket) = read(machine.challenged([challenge(.serverTrust)], handler: handler))
            #expect(read(machine.answered(.rejectProtectionSpace, ticket: ticket)).0 == "fail -1202")
        }
    }
}
