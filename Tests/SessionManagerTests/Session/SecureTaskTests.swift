// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

struct SecureTaskTests {
    /// A manager that trusts the origin's own root.
    private func lab(_ policy: SecurityPolicy = .default) async throws -> Lab {
        let lab = try await Lab()
        var policy = policy
        policy.trustRoots = .only(.file(lab.origin.pem(.root)))
        lab.manager.securityPolicy = policy
        return lab
    }

    @Test("over TLS by HTTP/1.1 and HTTP/2, connections used again", arguments: [OriginListener.https, .h2])
    func secure(_ listener: OriginListener) async throws {
        let lab = try await lab()
        for number in 0..<2 {
            let task = try lab.manager.dataTask(with: lab.request("/get", at: listener))
            task.resume()
            let outcome = await task.outcome()
            #expect(outcome.error == nil)
            #expect(outcome.response?.version == (listener == .h2 ? .http2 : .http1_1))
            #expect(outcome.metrics.first?.isReusedConnection == (number == 1))
        }
    }

    @Test("without its root a server is refused, and the error says why")
    func unknownRoot() async throws {
        let lab = try await Lab()
        let end = try await lab.run(lab.request("/get", at: .https))
        #expect(end.error?.code == .certificateHasUnknownRoot)
        #expect(end.error?.advice.isEmpty == false)
    }

    @Test(
        "an expired certificate, another name: told apart",
        arguments: [
            (OriginListener.expired, SessionError.Code.certificateHasBadDate),
            (.wrongName, .certificateUntrusted), (.future, .certificateNotYetValid),
        ])
    func refusals(_ listener: OriginListener, _ code: SessionError.Code) async throws {
        let end = try await lab().run(lab().request("/get", at: listener))
        #expect(end.error?.code == code)
    }

    @Test(
        "AF-199 a wrong pin fails with the host's name in the text; the right one and a renewed certificate pass"
    )
    func pins() async throws {
        let origin = try await TestSupport.Origin.shared
        let right = try await lab(SecurityPolicy(pins: origin.pin(.leaf)))
        #expect(try await right.run(right.request("/get", at: .https)).error == nil)
        #expect(try await right.run(right.request("/get", at: .renewed)).error == nil)
        let wrong = try await lab(SecurityPolicy(pins: origin.pin(.otherRoot)))
        let end = try await wrong.run(wrong.request("/get", at: .https))
        #expect(end.error?.code == .certificateUntrusted)
        #expect(end.error?.description.contains("origin.test") == true)
        #expect(end.error?.description.contains("sha256//") == true)
    }

    @Test("a change of policy does not use connections of the former one")
    func policyChange() async throws {
        let lab = try await lab()
        #expect(try await lab.run(lab.request("/get", at: .https)).error == nil)
        lab.manager.securityPolicy = .default
        #expect(try await lab.run(lab.request("/get", at: .https)).error?.code == .certificateHasUnknownRoot)
    }

    @Test("the client shows its certificate where the server wants one")
    func clientCertificate() async throws {
        let lab = try await lab()
        #expect(try await lab.run(lab.request("/get", at: .mtls)).response?.statusCode == 400)
        var policy = lab.manager.securityPolicy
        policy.clientIdentity = .pem(
            certificate: .file(lab.origin.pem(.client)), key: .file(lab.origin.key(.client)))
        lab.manager.securityPolicy = policy
        #expect(try await lab.run(lab.request("/get", at: .mtls)).response?.statusCode == 200)
    }
}
