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
    private func lab(
        _ policy: SecurityPolicy = .default, _ change: (inout SessionConfiguration) -> Void = { _ in }
    ) async throws -> Lab {
        let lab = try await Lab(change)
        lab.trustOrigin(policy)
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

    @Test(
        "FLD-028 content without a length whose connection ends without close_notify is not complete",
        arguments: [("close", true), ("fin", false)])
    func closeNotify(_ kind: String, _ isComplete: Bool) async throws {
        let lab = try await lab()
        func request(_ fault: String) throws -> SessionRequest {
            try lab.request("/fault/\(fault)?kind=\(kind)", at: .directTLS)
        }
        let expected: SessionError.Code? = isComplete ? nil : .networkConnectionLost
        for task in [
            try lab.manager.dataTask(with: request("until-closed")),
            try lab.manager.downloadTask(with: request("until-closed")),
        ] {
            task.resume()
            let end = await task.outcome()
            #expect(end.error?.code == expected, "\(end)")
            #expect(isComplete || end.error?.message.contains("close_notify") == true)
            if let path = end.filePath { try FileManager.default.removeItem(atPath: path) }
        }
        let (_, content) = try await lab.manager.stream(for: request("until-closed"))
        var (read, failure) = (Data(), SessionError.Code?.none)
        do { for try await chunk in content { read += chunk } } catch { failure = error.code }
        #expect(read == Data("hello".utf8) && failure == expected)
        // What says itself where it ends is complete either way, and so is a refusal.
        for fault in ["no-type", "trailers", "empty-with-trailers", "body-on-204"] {
            let task = try lab.manager.dataTask(with: request(fault))
            task.resume()
            #expect(await task.outcome().error == nil, "\(fault)")
        }
    }

    private func outcome(_ lab: Lab, _ method: HTTPRequest.Method, at listener: OriginListener) async throws
        -> TaskOutcome
    {
        let body: RequestBody? = method == .put ? .data(Data("body".utf8)) : nil
        let path = method == .put ? "/put" : "/get"
        let task = try lab.manager.dataTask(with: lab.request(path, method, at: listener, body: body))
        task.resume()
        return await task.outcome()
    }

    @Test(
        "a body goes by HTTP/1.1 where libcurl cannot be trusted with it, and what has none by HTTP/2 before and after"
    )
    func versionOfBodies() async throws {
        let isTrusted = try CurlLibrary.load().sendsBodiesByHTTP2
        for (configured, version) in [
            (nil, isTrusted ? HTTPVersion.http2 : .http1_1), (true, .http2), (false, .http1_1),
        ] {
            let lab = try await lab { $0.sendsBodiesByHTTP2 = configured }
            for round in 0..<2 {
                let sent = try await outcome(lab, .put, at: .h2)
                #expect(sent.response?.version == version)
                #expect(sent.metrics.first?.isReusedConnection == (round == 1))
                // With the same handle in the other pool, which has to know the addresses of the
                // configuration too.
                let next = try await outcome(lab, .get, at: .h2)
                #expect(next.response?.version == .http2, "\(next.error.map { "\($0)" } ?? "")")
                // A dozen at once, over the one connection.
                let tasks = try (0..<12).map { _ in
                    try lab.manager.dataTask(with: lab.request("/get", at: .h2))
                }
                for task in tasks { task.resume() }
                var ports: Set<Int?> = []
                for task in tasks {
                    let outcome = await task.outcome()
                    #expect(outcome.response?.version == .http2, "\(outcome.error.map { "\($0)" } ?? "")")
                    ports.insert(outcome.metrics.first?.local?.port)
                }
                #expect(ports.count == 1)
            }
        }
    }

    @Test("where a server speaks HTTP/1.1 a body uses the connection of what had none")
    func oneConnection() async throws {
        let lab = try await lab()
        for (number, method) in [HTTPRequest.Method.get, .put, .get].enumerated() {
            let outcome = try await outcome(lab, method, at: .https)
            #expect(outcome.response?.version == .http1_1)
            #expect(outcome.metrics.first?.isReusedConnection == (number > 0))
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
        let lab = try await lab()
        lab.manager.queue.waitsForClock = false
        let end = try await lab.run(lab.request("/get", at: listener))
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
