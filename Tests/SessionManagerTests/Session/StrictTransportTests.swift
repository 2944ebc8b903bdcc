// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import ReachTesting
import SessionCore
import SessionManager
import Synchronization
import TestSupport
import Testing

/// Hosts that want https alone, from their first answer to the file of the next process.
struct StrictTransportTests: AnsweredHosts {
    @Test(
        "API-466 A host that has asked for https over TLS is asked by https from then on, and the task says so"
    )
    func learned() async throws {
        let (manager, sent) = answered(HSTSStore())
        let steps = Diary<String>()
        let completed = Box<Void>()
        manager.eventMonitors = [
            EventMonitor { _, step in
                steps.record("\(step)")
                if case .completed = step { completed.put(()) }
            }
        ]
        _ = try await get(manager, "http://a.example/1")
        #expect(manager.hsts?.hosts == [], "plain http says nothing")
        _ = try await get(manager, "https://a.example/2")
        #expect(manager.hsts?.hosts == ["a.example"])
        let task = try manager.dataTask(with: SessionRequest("http://a.example:80/3"))
        task.resume()
        let outcome = await task.outcome()
        #expect(outcome.error == nil && outcome.response?.url.absoluteString == "https://a.example:443/3")
        #expect(task.originalRequest.url.absoluteString == "http://a.example:80/3")
        #expect(task.currentRequest.url.absoluteString == "https://a.example:443/3")
        _ = try await get(manager, "http://b.example/4")
        #expect(
            sent.all == [
                "http://a.example/1", "https://a.example/2", "https://a.example:443/3", "http://b.example/4",
            ])
        await completed.value
        #expect(steps.all.filter { $0.hasPrefix("secured") } == ["secured: GET a.example/3"])
    }

    @Test("API-466 Without a store nothing changes; copies and other managers share one")
    func shared() async throws {
        let (plain, sent) = answered(nil)
        _ = try await get(plain, "https://a.example/")
        _ = try await get(plain, "http://a.example/")
        #expect(sent.all == ["https://a.example/", "http://a.example/"] && plain.hsts == nil)
        let store = HSTSStore()
        let (first, _) = answered(store)
        _ = try await get(first, "https://a.example/")
        let (second, others) = answered(store)
        _ = try await get(second, "http://a.example/")
        _ = try await get(second.copy(), "http://a.example/")
        #expect(others.all == ["https://a.example/", "https://a.example/"])
        second.hsts = nil
        _ = try await get(second, "http://a.example/")
        #expect(others.all.last == "http://a.example/")
    }

    @Test("API-466 Only the first field counts, on every status; an age of 0 ends it; addresses say nothing")
    func firstField() async throws {
        let (manager, sent) = answered(HSTSStore()) { request in
            switch request.path {
            case "/first":
                .status(404).header("strict-transport-security", "max-age=5000")
                    .header("Strict-Transport-Security", "max-age=0")
            case "/broken":
                .status(200).header("Strict-Transport-Security", "max-age=x")
                    .header("Strict-Transport-Security", "max-age=0")
            case "/end": .status(204).header("Strict-Transport-Security", "max-age=0")
            default: .status(200, headers: Self.year)
            }
        }
        func ask(_ address: String) async throws {
            let task = try manager.dataTask(with: SessionRequest(address))
            task.resume()
            _ = await task.outcome()
        }
        try await ask("https://a.example/first")
        try await ask("https://a.example/broken")
        #expect(manager.hsts?.hosts == ["a.example"])
        try await ask("http://a.example/end")
        #expect(sent.all.last == "https://a.example/end" && manager.hsts?.hosts == [])
        try await ask("https://192.0.2.1/")
        try await ask("https://[2001:db8::1]/")
        #expect(manager.hsts?.hosts == [])
    }

    @Test(
        "API-467 Redirects to http of a known host go by https, with the secrets of its origin; a handler's too"
    )
    func redirects() async throws {
        let tokens = Diary<String?>()
        let (manager, sent) = answered(try HSTSStore(file: nil, preloaded: [".example.com"])) { request in
            tokens.record(request.value(forHeader: "authorization"))
            return switch request.path {
            case "/a": .redirect(to: "http://www.example.com/b")
            case "/c": .redirect(to: "http://other.example/d")
            default: .status(204)
            }
        }
        var request = try SessionRequest("https://www.example.com/a")
        request.headerFields[.authorization] = "Bearer 1"
        let proposals = Diary<String>()
        var options = TaskOptions()
        options.redirectHandler = Redirector.modify { proposed, _, _ in
            proposals.record(proposed.url.absoluteString)
            return proposed
        }
        _ = try await manager.data(for: request, options: options)
        #expect(proposals.all == ["https://www.example.com/b"] && tokens.all == ["Bearer 1", "Bearer 1"])
        // The handler leads to where it is not protected.
        let elsewhere = try #require(URL(string: "http://example.com/e"))
        options.redirectHandler = Redirector.modify { proposed, _, _ in
            var next = proposed
            next.url = elsewhere
            return next
        }
        let task = try manager.dataTask(with: SessionRequest("http://www.example.com/c"), options: options)
        task.resume()
        _ = await task.outcome()
        #expect(task.currentRequest.url.absoluteString == "https://example.com/e")
        #expect(sent.all.allSatisfy { $0.hasPrefix("https://") }, "\(sent.all)")
        #expect(sent.all.count == 4)
    }

    @Test(
        "API-467 A server that redirects its https to http is named by the limit of redirects, not by plain http"
    )
    func circle() async throws {
        let (manager, sent) = answered(HSTSStore()) { _ in
            Answer.redirect(to: "http://a.example/").header("Strict-Transport-Security", "max-age=1000")
        }
        await #expect { try await get(manager, "https://a.example/") } throws: { error in
            (error as? SessionError)?.code == .tooManyRedirects
        }
        #expect(sent.all.allSatisfy { $0 == "https://a.example/" })
    }

    @Test("API-468 What was stored from plain http is not used for a host that is known since")
    func cached() async throws {
        let (manager, sent) = answered(nil) { request in
            .text(request.url.scheme ?? "", headers: ["Cache-Control": "max-age=1000"])
        }
        manager.cache = DiskResponseCache(directory: nil)
        _ = try await get(manager, "http://a.example/")
        await manager.cache?.flush()
        let store = try HSTSStore(file: nil, preloaded: ["a.example"])
        manager.hsts = store
        let (data, response) = try await manager.data(for: SessionRequest("http://a.example/"))
        #expect(String(decoding: data, as: UTF8.self) == "https" && response.url.scheme == "https")
        await manager.cache?.flush()
        // Neither is that one asked for again.
        _ = try await get(manager, "http://a.example/")
        #expect(sent.all == ["http://a.example/", "https://a.example/"])
    }

    @Test("API-469 A request that waits for the network goes by https where its host became known meanwhile")
    func waiting() async throws {
        let network = ScriptedNetwork(.unreachable)
        var queue = RequestQueue.Settings()
        queue.follows = .provider(network)
        let store = HSTSStore()
        let (manager, sent) = answered(store, queue: queue)
        let task = try manager.dataTask(with: SessionRequest("http://a.example/"))
        task.resume()
        let (other, _) = answered(store)
        _ = try await get(other, "https://a.example/")
        network.become(.wifi)
        #expect(await task.outcome().error == nil)
        #expect(sent.all == ["https://a.example/"])
    }

    @Test("API-469 So does one whose path was lost before its answer came")
    func parked() async throws {
        let network = ScriptedNetwork(.wifi)
        var queue = RequestQueue.Settings()
        queue.follows = .provider(network)
        let store = HSTSStore()
        let (other, _) = answered(store)
        let (manager, sent) = answered(store, queue: queue) { request in
            guard request.url.scheme == "http" else { return .status(204) }
            network.become(.unreachable)
            return .pathLost("cut")
        }
        let parked = Box<Void>()
        manager.eventMonitors = [EventMonitor { _, step in if case .parked = step { parked.put(()) } }]
        let task = try manager.dataTask(with: SessionRequest("http://a.example/"))
        task.resume()
        await parked.value
        _ = try await get(other, "https://a.example/")
        network.become(.wifi)
        #expect(await task.outcome().error == nil)
        #expect(sent.all == ["http://a.example/", "https://a.example/"])
    }

    @Test("API-470 Adapters see the https URL, and a task's credential is for the host by https as well")
    func credentials() async throws {
        let (manager, _) = answered(try HSTSStore(file: nil, preloaded: ["a.example"])) { request in
            guard request.value(forHeader: "authorization") != nil else {
                return .status(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
            }
            return .text(request.value(forHeader: "x-scheme") ?? "")
        }
        struct Scheme: RequestInterceptor {
            func adapt(_ request: SessionRequest, state: RequestState) async throws -> SessionRequest {
                var request = request
                try request.setValue(request.url.scheme, forHeader: "X-Scheme")
                return request
            }
        }
        var options = TaskOptions()
        options.credential = .password(user: "u", password: "p")
        options.interceptor = Scheme()
        let (data, response) = try await manager.data(
            for: SessionRequest("http://a.example/"), options: options)
        #expect(response.statusCode == 200 && String(decoding: data, as: UTF8.self) == "https")
    }

    // MARK: Over TLS

    private static let said = "/response-headers?Strict-Transport-Security=max-age=1000"

    @Test("API-472 Over TLS: the next http request goes to the same port by TLS, over the same connection")
    func overTLS() async throws {
        let lab = try await Lab()
        lab.trustOrigin()
        lab.manager.hsts = HSTSStore()
        let port = lab.origin.port(.https)
        _ = try await lab.run(lab.request(Self.said, at: .https))
        #expect(lab.manager.hsts?.hosts == ["origin.test"])
        let task = try lab.manager.dataTask(with: SessionRequest("http://origin.test:\(port)/get"))
        task.resume()
        let outcome = await task.outcome()
        #expect(outcome.error == nil && outcome.response?.statusCode == 200)
        #expect(outcome.metrics.first?.isReusedConnection == true)
        // Cookies for https alone go along.
        _ = try await lab.run(lab.request("/cookies/raw?line=a=1;%20Secure;%20Path=/", at: .https))
        let cookies = try await lab.run(SessionRequest("http://origin.test:\(port)/cookies"))
        #expect(cookies.json?["cookies"]?["a"] == "1", "\(cookies)")
    }

    @Test(
        "API-472 A server whose certificate or name may be any says nothing, nor one that a delegate accepts")
    func unproven() async throws {
        struct Judge: SessionDelegate {
            var asksAboutServers: Bool { true }
            func session(
                _ session: Session, didReceive challenge: AuthenticationChallenge
            ) async throws -> ChallengeDisposition { .useCredential(.serverTrust) }
        }
        let store = HSTSStore()
        var anything = SecurityPolicy()
        (anything.allowInvalidCertificates, anything.validatesDomainName) = (true, false)
        var anyName = SecurityPolicy()
        anyName.validatesDomainName = false
        for (policy, judge) in [(anything, nil), (anyName, nil), (.default, Judge())]
            as [(SecurityPolicy, Judge?)]
        {
            let lab = try await Lab()
            lab.trustOrigin(policy)
            lab.manager.delegate = judge
            lab.manager.hsts = store
            let end = try await lab.run(lab.request(Self.said, at: .https))
            #expect(end.error == nil, "\(policy)")
            #expect(store.hosts == [], "\(policy)")
        }
        let lab = try await Lab()
        lab.manager.hsts = store
        lab.manager.securityPolicy = try SecurityPolicy(pins: lab.origin.pin(.leaf))
        lab.manager.securityPolicy.allowInvalidCertificates = true
        _ = try await lab.run(lab.request(Self.said, at: .https))
        #expect(store.hosts == ["origin.test"], "a pin proves the server")
    }
}
