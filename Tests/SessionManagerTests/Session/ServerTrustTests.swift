// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Decides about servers, and remembers what it was asked.
private struct Judge: SessionDelegate {
    var asksAboutServers = true
    let asked = Diary<AuthenticationChallenge>()
    var answer: @Sendable (AuthenticationChallenge) throws -> ChallengeDisposition = { _ in
        .useCredential(.serverTrust)
    }

    func session(
        _ session: Session, didReceive challenge: AuthenticationChallenge
    ) async throws -> ChallengeDisposition {
        asked.record(challenge)
        return try answer(challenge)
    }
}

struct ServerTrustTests {
    /// A manager that trusts the origin's own root, with a delegate.
    private func lab(_ judge: Judge?, _ policy: SecurityPolicy = .default) async throws -> Lab {
        let lab = try await Lab()
        lab.trustOrigin(policy)
        lab.manager.delegate = judge
        return lab
    }

    private func get(_ lab: Lab, _ path: String = "/get", at listener: OriginListener) async throws
        -> TaskOutcome
    {
        let task = try lab.manager.dataTask(with: lab.request(path, at: listener))
        task.resume()
        return await task.outcome()
    }

    @Test(
        "AF-153 the delegate accepts a server that the policy would reject, and is asked once for each connection"
    )
    func accepted() async throws {
        let origin = try await TestSupport.Origin.shared
        let judge = Judge()
        let lab = try await lab(judge, SecurityPolicy(pins: origin.pin(.otherRoot)))
        let first = try await get(lab, at: .selfSigned)
        #expect(first.error == nil)
        #expect(first.response?.statusCode == 200)
        let challenge = try #require(judge.asked.all.first)
        #expect(challenge.method == .serverTrust)
        #expect(challenge.host == "origin.test")
        #expect(challenge.port == origin.port(.selfSigned))
        #expect(challenge.peerTrust?.certificates.count == 1)
        #expect(challenge.peerTrust?.certificates.first?.pin != nil)
        // Again on the same connection, and for another server.
        #expect(try await get(lab, at: .selfSigned).metrics.last?.isReusedConnection == true)
        #expect(judge.asked.all.count == 1)
        #expect(try await get(lab, at: .https).error == nil)
        #expect(judge.asked.all.count == 2)
    }

    @Test(
        "AF-153 the delegate refuses a server that the policy would accept, and nothing is sent",
        arguments: 0..<4)
    func refused(_ way: Int) async throws {
        struct Refusal: Error {}
        let judge = Judge { _ in
            switch way {
            case 0: .cancel
            case 1: .rejectProtectionSpace
            case 2: .useCredential(.bearer("token"))
            default: throw Refusal()
            }
        }
        let lab = try await lab(judge)
        let key = "refused-server-\(way)"
        let end = try await get(lab, "/get?key=\(key)", at: .https)
        let codes: [SessionError.Code] = [
            .cancelled, .certificateUntrusted, .userAuthenticationRequired, .userCancelledAuthentication,
        ]
        #expect(end.error?.code == codes[way])
        #expect((end.error?.underlying is Refusal) == (way == 3))
        #expect(end.response == nil)
        #expect(judge.asked.all.count == 1)
        #expect(try await lab.origin.count(key) == 0)
    }

    @Test(
        "default handling: the trust roots and the name judge, not the policy's pins",
        arguments: [
            (OriginListener.https, SessionError.Code?.none), (.h2, nil),
            (.selfSigned, .certificateHasUnknownRoot), (.expired, .certificateHasBadDate),
            (.wrongName, .certificateUntrusted),
        ])
    func byDefault(_ listener: OriginListener, _ code: SessionError.Code?) async throws {
        let origin = try await TestSupport.Origin.shared
        let judge = Judge { _ in .performDefaultHandling }
        let lab = try await lab(judge, SecurityPolicy(pins: origin.pin(.otherRoot)))
        #expect(try await get(lab, at: listener).error?.code == code)
        #expect(judge.asked.all.count == 1)
    }

    @Test("a body that can be read once goes to the server that the delegate accepts: nothing of it was sent")
    func streamed() async throws {
        let lab = try await lab(Judge())
        let (chunks, source) = AsyncStream<Data>.makeStream()
        source.yield(Data("once".utf8))
        source.finish()
        let request = try lab.request(
            "/upload", .post, at: .selfSigned, body: .stream(StreamedBody(chunks)))
        #expect(try await lab.run(request).json?["count"] == 4)
    }

    @Test("what one delegate has accepted does not hold for the next one, nor for the policy")
    func anotherDelegate() async throws {
        let lab = try await lab(Judge())
        #expect(try await get(lab, at: .selfSigned).error == nil)
        let second = Judge { _ in .cancel }
        lab.manager.delegate = second
        #expect(try await get(lab, at: .selfSigned).error?.code == .cancelled)
        #expect(second.asked.all.count == 1)
        lab.manager.delegate = Judge()
        #expect(try await get(lab, at: .selfSigned).error == nil)
        lab.manager.delegate = nil
        #expect(try await get(lab, at: .selfSigned).error?.code == .certificateHasUnknownRoot)
    }

    @Test("a delegate that does not want to be asked is not, and keeps the session")
    func notAsked() async throws {
        let lab = try await lab(nil)
        let session = try lab.manager.session
        let judge = Judge(asksAboutServers: false)
        lab.manager.delegate = judge
        #expect(try lab.manager.session === session)
        #expect(try await get(lab, at: .selfSigned).error?.code == .certificateHasUnknownRoot)
        #expect(judge.asked.all.isEmpty)
    }

    @Test("many tasks at once: all are accepted, with their bodies")
    func many() async throws {
        let lab = try await lab(Judge())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let request = try lab.request(
                        "/post", .post, at: number % 2 == 0 ? .selfSigned : .h2,
                        body: .data(Data("body \(number)".utf8)))
                    let (data, response) = try await lab.manager.data(for: request)
                    #expect(response.statusCode == 200)
                    #expect(String(decoding: data, as: UTF8.self).contains("body \(number)"))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("a redirect to another server asks about that one too")
    func redirect() async throws {
        let judge = Judge()
        let lab = try await lab(judge)
        let target = lab.origin.url("/get", at: .selfSigned)
        let end = try await get(lab, "/redirect-to?url=\(target)", at: .https)
        #expect(end.response?.statusCode == 200)
        #expect(end.response?.url.port == lab.origin.port(.selfSigned))
        #expect(judge.asked.all.map(\.port) == [lab.origin.port(.https), lab.origin.port(.selfSigned)])
    }
}
