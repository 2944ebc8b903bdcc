// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import Testing

struct RulesRedirectTests {
    private func follow(
        _ status: Int, _ location: String, from request: SessionRequest,
        rules: RedirectRules = RedirectRules(),
        hops: Int = 0
    ) throws -> SessionRequest {
        switch rules.decide(request, response: response(status, location, to: request), hops: hops) {
        case .follow(let next): return next
        case .failure(let error): throw error
        case .notARedirect: throw SessionError(.badServerResponse, "not followed")
        }
    }

    private func response(_ status: Int, _ location: String, to request: SessionRequest) -> SessionResponse {
        SessionResponse(url: request.url, statusCode: status, headerFields: [.location: location])
    }

    private func request(
        _ address: String = "https://a.example/dir/page?q#part", method: HTTPRequest.Method = .get
    ) throws -> SessionRequest {
        var request = try SessionRequest(address, method: method)
        request.headerFields = [
            .authorization: "Bearer 1", .cookie: "a=1", .proxyAuthorization: "Basic 2", .accept: "*/*",
            .contentType: "text/plain", .contentEncoding: "gzip", .referer: "https://a.example/before",
        ]
        request.headerFields[try #require(HTTPField.Name("X-Api-Key"))] = "3"
        if method == .post || method == .put { request.body = .data(Data([1, 2, 3])) }
        return request
    }

    @Test(
        "the method after a redirect",
        arguments: [
            (301, "GET", "GET"), (302, "POST", "GET"), (301, "POST", "GET"), (301, "PUT", "PUT"),
            (302, "DELETE", "DELETE"),
            (302, "HEAD", "HEAD"), (303, "POST", "GET"), (303, "PUT", "GET"), (303, "HEAD", "HEAD"),
            (303, "GET", "GET"),
            (307, "POST", "POST"), (308, "POST", "POST"), (307, "PUT", "PUT"), (308, "GET", "GET"),
        ])
    func method(_ status: Int, _ before: String, _ after: String) throws {
        let method = try #require(HTTPRequest.Method(before))
        let next = try follow(status, "/x", from: request(method: method))
        #expect(next.method.rawValue == after)
        let keepsBody = (before == "POST" || before == "PUT") && after == before
        #expect((next.body != nil) == keepsBody)
        if before != "GET", after == "GET" {
            #expect(next.headerFields[.contentType] == nil)
            #expect(next.headerFields[.contentEncoding] == nil)
        }
        #expect(next.headerFields[.accept] == "*/*")
    }

    @Test("a POST stays one after 301 and 302 where that is asked for")
    func keptPost() throws {
        var rules = RedirectRules()
        rules.rewritesPost = false
        for status in [301, 302] {
            let next = try follow(status, "/x", from: request(method: .post), rules: rules)
            #expect(next.method == .post)
            #expect(next.headerFields[.contentType] == "text/plain")
        }
        #expect(try follow(303, "/x", from: request(method: .post), rules: rules).method == .get)
    }

    @Test(
        "other statuses and answers without Location are no redirects",
        arguments: [200, 300, 304, 305, 306, 399])
    func notRedirects(_ status: Int) throws {
        let request = try request()
        for response in [
            response(status, "/x", to: request), SessionResponse(url: request.url, statusCode: 302),
            SessionResponse(url: request.url, statusCode: nil, headerFields: [.location: "/x"]),
        ] {
            guard case .notARedirect = RedirectRules().decide(request, response: response, hops: 0) else {
                Issue.record("followed")
                return
            }
        }
    }

    @Test(
        "the target, with the fragment of the request unless it has its own",
        arguments: [
            ("other", "https://a.example/dir/other#part"), ("/", "https://a.example/#part"),
            ("//b.example", "https://b.example#part"), ("?z=1#new", "https://a.example/dir/page?z=1#new"),
            ("http://b.example/ü x", "http://b.example/%C3%BC%20x#part"),
            ("", "https://a.example/dir/page?q#part"),
            ("https://a.example:443/y#", "https://a.example:443/y#"),
        ])
    func target(_ location: String, _ url: String) throws {
        #expect(try follow(302, location, from: request()).url.absoluteString == url)
    }

    @Test(
        "secrets stay with their origin",
        arguments: [
            ("/elsewhere", true), ("https://a.example:443/", true), ("https://A.EXAMPLE/", true),
            ("http://a.example/", false), ("https://a.example:444/", false), ("https://b.example/", false),
            ("https://sub.a.example/", false), ("https://a.example@b.example/", false),
            ("//a.example.b.example/", false),
        ])
    func secrets(_ location: String, _ stay: Bool) throws {
        for status in [301, 307] {
            let fields = try follow(status, location, from: request()).headerFields
            for name in ["authorization", "cookie", "proxy-authorization", "x-api-key"] {
                #expect(fields.contains { $0.name.canonicalName == name } == stay, "\(name)")
            }
            #expect(fields[.accept] == "*/*")
            #expect((fields[.referer] != nil) == !location.hasPrefix("http:"))
        }
    }

    @Test("a field named sensitive stays behind as well")
    func ownSecrets() throws {
        var request = try request()
        let name = try #require(HTTPField.Name("X-Device-Secret"))
        request.headerFields[name] = "s"
        var rules = RedirectRules()
        #expect(try follow(302, "//b.example", from: request, rules: rules).headerFields[name] == "s")
        rules.sensitiveFields = SensitiveFields(adding: ["x-device-SECRET"])
        #expect(try follow(302, "//b.example", from: request, rules: rules).headerFields[name] == nil)
    }

    @Test("a request's own sensitive fields stay behind, also where a handler answers with the request")
    func sensitiveFieldsOfTheRequest() throws {
        var request = try request()
        let name = try #require(HTTPField.Name("X-Device-Secret"))
        request.headerFields[name] = "s"
        var changes = RequestOptionChanges()
        changes.sensitiveFields = ["x-device-SECRET"]
        changes.apply(to: &request.options)
        #expect(try follow(302, "/y", from: request).headerFields[name] == "s")
        let next = try follow(302, "//b.example", from: request)
        #expect(next.headerFields[name] == nil)
        #expect(next.options.sensitiveFields == [name])
        var answer = request
        answer.url = next.url
        let admitted = try RedirectRules().admitted(answer, proposed: next, sent: request)
        #expect(admitted.headerFields[name] == nil)
        #expect(!request.curlDescription.contains("x-device-secret: s"))
        #expect(request.curlDescription.lowercased().contains("x-device-secret: ***"))
    }

    @Test("user and password of the URL follow within the origin, and nowhere else")
    func userInfo() throws {
        let request = try SessionRequest("http://me:pw@a.example/x")
        #expect(try follow(302, "/y", from: request).url.absoluteString == "http://me:pw@a.example/y")
        #expect(
            try follow(302, "http://a.example/y", from: request).url.absoluteString
                == "http://me:pw@a.example/y")
        #expect(
            try follow(302, "http://b.example/y", from: request).url.absoluteString == "http://b.example/y")
        #expect(
            try follow(302, "https://a.example/y", from: request).url.absoluteString == "https://a.example/y")
    }

    @Test(
        "targets that fail",
        arguments: [
            ("ftp://b.example/", SessionError.Code.unsupportedURL), ("file:///etc/passwd", .unsupportedURL),
            ("javascript:alert(1)", .unsupportedURL), ("http:relative", .unsupportedURL),
            ("http://", .unsupportedURL),
            ("http://h:65536/", .badURL), ("http://[::1/", .badURL), ("http://h:x/", .badURL),
            ("1:2", .badURL),
        ])
    func refused(_ location: String, _ code: SessionError.Code) throws {
        let request = try request()
        #expect { try follow(302, location, from: request) } throws: { ($0 as? SessionError)?.code == code }
    }

    @Test("two different targets are refused; the same one twice is one")
    func severalTargets() throws {
        let request = try request()
        var fields: HTTPFields = [.location: "/x"]
        fields.append(HTTPField(name: .location, value: "/x"))
        let same = SessionResponse(url: request.url, statusCode: 302, headerFields: fields)
        guard case .follow = RedirectRules().decide(request, response: same, hops: 0) else {
            Issue.record("not followed")
            return
        }
        fields.append(HTTPField(name: .location, value: "/y"))
        let other = SessionResponse(url: request.url, statusCode: 302, headerFields: fields)
        guard case .failure(let error) = RedirectRules().decide(request, response: other, hops: 0) else {
            Issue.record("followed")
            return
        }
        #expect(error.code == .badURL)
    }

    @Test("sixteen redirects are followed, the next one fails; the limit can be another")
    func limit() throws {
        let request = try request()
        for (limit, hops) in [(16, 15), (3, 2)] {
            var rules = RedirectRules()
            rules.limit = limit
            #expect(try follow(302, "/x", from: request, rules: rules, hops: hops).url.path == "/x")
            #expect { try follow(302, "/x", from: request, rules: rules, hops: hops + 1) } throws: {
                ($0 as? SessionError)?.code == .tooManyRedirects
            }
        }
        #expect(RedirectRules().limit == 16)
    }

    @Test("from https to http can be switched off")
    func downgrade() throws {
        var rules = RedirectRules()
        rules.followsToInsecure = false
        #expect { try follow(302, "http://a.example/", from: request(), rules: rules) } throws: {
            ($0 as? SessionError)?.code == .secureConnectionFailed
        }
        _ = try follow(302, "http://b.example/", from: SessionRequest("http://a.example/"), rules: rules)
    }

    @Test("AF-145 AF-146 a handler follows, does not, or goes elsewhere")
    func handlers() async throws {
        let request = try request()
        let proposed = try follow(302, "/x", from: request)
        let response = response(302, "/x", to: request)
        let other = try SessionRequest("https://b.example/")
        func ask(_ handler: some RedirectHandler) async -> SessionRequest? {
            await handler.redirect(to: proposed, from: request, response: response)
        }
        #expect(await ask(.follow)?.url == proposed.url)
        #expect(await ask(.doNotFollow) == nil)
        #expect(await ask(Redirector.modify { _, _, _ in other })?.url == other.url)
        #expect(
            await ask(Redirector.modify { _, _, response in response.statusCode == 302 ? nil : other }) == nil
        )
    }

    @Test("a handler that continues with the sent request takes no secrets of it to another origin")
    func sentRequestElsewhere() throws {
        let sent = try request(method: .post)
        let rules = RedirectRules()
        for location in ["https://b.example/", "/elsewhere"] {
            let proposed = try follow(302, location, from: sent)
            // As a handler does that keeps the method and the body.
            var answer = sent
            answer.url = proposed.url
            let admitted = try rules.admitted(answer, proposed: proposed, sent: sent)
            #expect(admitted.method == .post && admitted.body != nil)
            let names = admitted.headerFields.map(\.name.canonicalName)
            let isHome = location == "/elsewhere"
            for name in ["authorization", "cookie", "proxy-authorization", "x-api-key"] {
                #expect(names.contains(name) == isHome, "\(name) \(location)")
            }
            #expect(admitted.headerFields[.accept] == "*/*")
            // What is not of the sent request is the handler's own affair.
            answer.headerFields[.authorization] = "Bearer for b"
            let own = try rules.admitted(answer, proposed: proposed, sent: sent)
            #expect(own.headerFields[.authorization] == "Bearer for b")
        }
    }

    @Test("what a handler answers: http and https alone, and secrets of the proposal stay")
    func admission() throws {
        let proposed = try request()
        let rules = RedirectRules()
        var answer = proposed
        answer.url = try #require(URL(string: "file:///etc/passwd"))
        #expect { try rules.admitted(answer, proposed: proposed, sent: proposed) } throws: {
            ($0 as? SessionError)?.code == .unsupportedURL
        }
        answer.url = try #require(URL(string: "https://b.example/"))
        answer.headerFields[.authorization] = "Bearer for b"
        let admitted = try rules.admitted(answer, proposed: proposed, sent: proposed)
        #expect(admitted.headerFields[.authorization] == "Bearer for b")
        #expect(admitted.headerFields[.cookie] == nil)
        answer.url = proposed.url
        #expect(try rules.admitted(answer, proposed: proposed, sent: proposed).headerFields[.cookie] == "a=1")
    }
}
