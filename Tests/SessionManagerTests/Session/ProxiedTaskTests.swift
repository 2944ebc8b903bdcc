// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

struct ProxiedTaskTests {
    private let right = Credential.password(user: "user", password: "secret")

    /// A manager behind a proxy, which trusts the origin's own root.
    private func lab(
        _ listener: OriginListener, _ credentials: String = "", scheme: String = "http"
    ) async throws -> Lab {
        let origin = try await TestSupport.Origin.shared
        let lab = try await Lab {
            $0.proxy = "\(scheme)://\(credentials)127.0.0.1:\(origin.port(listener))"
        }
        lab.trustOrigin()
        return lab
    }

    /// What the origin saw, whatever the name in the URL.
    private func seen(_ lab: Lab, options: TaskOptions = TaskOptions()) async throws -> Finished {
        try await lab.run(SessionRequest(lab.origin.url("/get", host: "no.such.test")), options: options)
    }

    @Test("the proxy is asked in the clear for names that only it knows")
    func plain() async throws {
        let end = try await seen(try await lab(.proxy))
        #expect(end.error == nil)
        #expect("\(try #require(end.json))".contains("1.1 origin"))
    }

    @Test("under TLS it is a tunnel, and the server is judged", arguments: [OriginListener.https, .h2])
    func tunnel(_ listener: OriginListener) async throws {
        let lab = try await lab(.proxy)
        let end = try await lab.run(lab.request("/get", at: listener))
        #expect(end.error == nil, "\(words(end))")
        #expect(end.response?.version == (listener == .h2 ? .http2 : .http1_1))
        #expect(!"\(try #require(end.json))".contains("1.1 origin"))
        lab.manager.securityPolicy = .default
        let stranger = try await lab.run(lab.request("/get", at: listener))
        #expect(stranger.error?.code == .certificateHasUnknownRoot, "\(words(stranger))")
    }

    @Test("credentials in the proxy's address", arguments: [OriginListener.http, .https])
    func credentials(_ listener: OriginListener) async throws {
        let lab = try await lab(.proxyAuth, "user:secret@")
        let end = try await lab.run(lab.request("/get", at: listener))
        #expect(end.response?.statusCode == 200, "\(words(end))")
        let wrong = try await self.lab(.proxyAuth, "user:wrong@")
        let refused = try await wrong.run(wrong.request("/get", at: listener))
        #expect(words(refused).contains("407") && !words(refused).contains("wrong"))
        #expect((refused.response == nil) == (listener == .https))
        let code = listener == .https ? SessionError.Code.userAuthenticationRequired : .badServerResponse
        #expect(refused.error?.code == code)
    }

    @Test(
        "a challenge of the proxy is answered by the handler", arguments: [OriginListener.http, .https, .h2])
    func challenge(_ listener: OriginListener) async throws {
        let lab = try await lab(.proxyAuth)
        let asked = Box<AuthenticationChallenge>()
        var options = TaskOptions()
        options.challengeHandler = { [right] challenge in
            asked.put(challenge)
            return challenge.previousFailureCount == 0 ? .useCredential(right) : .cancel
        }
        let end = try await lab.run(lab.request("/headers", at: listener), options: options)
        #expect(end.response?.statusCode == 200, "\(words(end))")
        let challenge = await asked.value
        #expect(challenge.isProxy && challenge.realm == "Fake Proxy" && challenge.method == .basic)
        #expect((challenge.host, challenge.port) == ("127.0.0.1", lab.origin.port(.proxyAuth)))
        #expect(asked.count == 1)
        #expect(!"\(try #require(end.json))".lowercased().contains("proxy-authorization"))
    }

    @Test(
        "407 from the server itself is its answer: no delegate is asked, and it gets no password for proxies",
        arguments: [
            (OriginListener.https, "http", OriginListener.proxy), (.h2, "http", .proxy),
            (.http, "socks5h", .socks), (.http, "", .http),
        ])
    func serversOwn(_ listener: OriginListener, _ scheme: String, _ proxy: OriginListener) async throws {
        let lab = scheme.isEmpty ? try await Lab() : try await lab(proxy, scheme: scheme)
        let asked = Diary<AuthenticationMethod>()
        var options = TaskOptions()
        options.challengeHandler = { [right] challenge in
            asked.record(challenge.method)
            return challenge.previousFailureCount == 0 ? .useCredential(right) : .cancel
        }
        let key = "servers-own-407-\(scheme)-\(listener)"
        let end = try await lab.run(
            lab.request("/cache/x?auth=user:secret&proxy=1&key=\(key)", at: listener), options: options)
        #expect(end.response?.statusCode == 407, "\(words(end))")
        #expect(end.error?.code == .badServerResponse, "\(words(end))")
        #expect(asked.all.isEmpty)
        #expect(try await lab.origin.count(key) == 1)
    }

    @Test("a handler without the right credential is asked again, then it is the proxy's refusal")
    func declined() async throws {
        let lab = try await lab(.proxyAuth)
        let asked = Box<Int>()
        var options = TaskOptions()
        options.challengeHandler = { challenge in
            asked.put(challenge.previousFailureCount)
            return challenge.previousFailureCount == 0
                ? .useCredential(.password(user: "user", password: "wrong")) : .performDefaultHandling
        }
        let end = try await lab.run(lab.request("/get", at: .https), options: options)
        #expect(end.response == nil)
        #expect(end.error?.code == .userAuthenticationRequired, "\(words(end))")
        #expect(asked.count == 2)
    }

    @Test("a tunnel that is made anew for a further round of Digest is no answer of the server")
    func tunnelMadeAnew() async throws {
        struct Heads: SessionDelegate {
            let seen = Diary<String?>()
            func task(_ task: SessionTask, didReceive response: SessionResponse) async -> ResponseDisposition
            {
                seen.record(response.mimeType)
                return .allow
            }
        }
        let (lab, heads, folder) = (try await lab(.proxy), Heads(), try ScratchFolder())
        lab.manager.delegate = heads
        var request = try lab.request("/digest-auth/u/p?stale=1&key=tunnel-made-anew", at: .https)
        try request.setValue("close", forHeader: "Connection")
        var options = TaskOptions()
        options.credential = .password(user: "u", password: "p")
        options.partialFile = folder("part")
        let task = try lab.manager.downloadTask(with: request, options: options)
        task.resume()
        let end = await task.outcome()
        #expect(end.error == nil && end.response?.statusCode == 200)
        #expect(heads.seen.all == ["application/json"])
        // Without credentials, the same by libcurl, with a nonce that is stale, and with a new one.
        #expect(try await lab.origin.count("tunnel-made-anew") == 4)
        let content = try Data(contentsOf: URL(filePath: folder("part")))
        #expect(String(decoding: content, as: UTF8.self).contains("authenticated"))
    }

    @Test(
        "an address that is none of a proxy is what the error names, without its password",
        arguments: [
            "nonsense://me:secret@127.0.0.1:1", "http://me:secret@", "http://me:secret@127.0.0.1:99999",
            "http://me:secret@a b:3",
        ], ["http", "https"])
    func strangeAddress(_ address: String, _ scheme: String) async throws {
        let lab = try await Lab { $0.proxy = address }
        let error = try #require(try await lab.run(SessionRequest("\(scheme)://no.such.test/")).error)
        #expect(error.code == .cannotConnectToHost)
        #expect(error.description.contains("the proxy cannot be used: "))
        #expect(error.advice.contains("socks5h://HOST:PORT"))
        #expect(!"\(error) \(error.transport.map { "\($0)" } ?? "")".contains("secret"))
    }

    @Test("a proxy that is not there, or does not get through, is what the error names")
    func dead() async throws {
        let end = try await seen(try await lab(.refused))
        #expect(end.error?.code == .cannotConnectToHost)
        #expect(words(end).hasPrefix("the proxy 127.0.0.1:"), "\(words(end))")
        let lab = try await lab(.proxy)
        let behind = try await lab.run(
            SessionRequest("https://origin.test:\(lab.origin.port(.refused))/"))
        #expect(behind.error?.code == .cannotConnectToHost && behind.response == nil)
        #expect(words(behind).contains("does not let through to origin.test:"), "\(words(behind))")
        #expect(words(behind).contains("502"), "\(words(behind))")
    }

    @Test(
        "by SOCKS 5 names are the proxy's to look up, in the clear and under TLS",
        arguments: [OriginListener.http, .https, .h2])
    func socks(_ listener: OriginListener) async throws {
        let lab = try await lab(.socks, scheme: "socks5h")
        let name = listener == .http ? "no.such.test" : "origin.test"
        let end = try await lab.run(SessionRequest(lab.origin.url("/get", at: listener, host: name)))
        #expect(end.response?.statusCode == 200, "\(words(end))")
        #expect(end.response?.version == (listener == .h2 ? .http2 : .http1_1))
        let asked = try await lab.origin.statistics("socks").requests
        #expect(asked.contains("SOCKS \(name):\(lab.origin.port(listener))"))
    }

    @Test("credentials for SOCKS 5 in the proxy's address", arguments: ["user:secret@", "user:wrong@", ""])
    func socksCredentials(_ credentials: String) async throws {
        let lab = try await lab(.socksAuth, credentials, scheme: "socks5h")
        let end = try await seen(lab)
        guard credentials != "user:secret@" else {
            #expect(end.response?.statusCode == 200, "\(words(end))")
            return
        }
        #expect(end.response == nil)
        #expect(end.error?.code == .userAuthenticationRequired, "\(words(end))")
        #expect(words(end).hasPrefix("the proxy 127.0.0.1:\(lab.origin.port(.socksAuth)) wants other"))
        #expect(end.error?.advice.contains("socks5h://USER:PASSWORD@127.0.0.1:") == true)
        #expect(!words(end).contains("wrong"))
    }

    @Test("a SOCKS proxy that is not there, or does not get through, is what the error names")
    func deadSocks() async throws {
        let end = try await seen(try await lab(.refused, scheme: "socks5h"))
        #expect(end.error?.code == .cannotConnectToHost)
        #expect(words(end).hasPrefix("the proxy 127.0.0.1:"), "\(words(end))")
        let lab = try await lab(.socks, scheme: "socks5h")
        let behind = try await lab.run(
            SessionRequest("https://origin.test:\(lab.origin.port(.refused))/"))
        #expect(behind.error?.code == .cannotConnectToHost && behind.response == nil)
        #expect(words(behind).contains("does not let through to origin.test:"), "\(words(behind))")
        // A server that is no proxy at all.
        let server = try await self.lab(.http, scheme: "socks5h")
        let odd = try await seen(server)
        #expect(odd.error?.code == .cannotConnectToHost && odd.response == nil, "\(words(odd))")
    }

    private func words(_ end: Finished) -> String { end.error.map { "\($0)" } ?? "" }
}
