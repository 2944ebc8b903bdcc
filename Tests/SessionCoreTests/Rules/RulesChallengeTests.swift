// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import SessionCore
import Testing

struct RulesChallengeTests {
    private func text(_ values: [String]) -> [String] {
        HTTPChallenge.parse(values).map { challenge in
            let parameters = challenge.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return ([challenge.scheme] + [challenge.token68].compactMap { $0 } + parameters).joined(
                separator: "|")
        }
    }

    @Test(
        "challenges as RFC 9110 §11 writes them, and as servers do",
        arguments: [
            (["Basic realm=\"Fake Realm\""], ["basic|realm=Fake Realm"]),
            (["Basic realm=\"simple\", charset=\"UTF-8\""], ["basic|charset=UTF-8|realm=simple"]),
            (
                ["Newauth realm=\"apps\", type=1,   title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\""],
                ["newauth|realm=apps|title=Login to \"apps\"|type=1", "basic|realm=simple"]
            ),
            (
                ["Negotiate, NTLM TlRMTVNTUAAC==, Basic realm=x"],
                ["negotiate", "ntlm|TlRMTVNTUAAC==", "basic|realm=x"]
            ),
            (["Digest realm=\"a, b=c\", nonce=\"n\"", "Bearer"], ["digest|nonce=n|realm=a, b=c", "bearer"]),
            ([",, ,Basic realm=a,,,Bearer error=x,"], ["basic|realm=a", "bearer|error=x"]),
            (["Basic realm = \"a\" , Bearer"], ["basic|realm=a", "bearer"]),
            (["Digest realm=\"a\" nonce=\"b\""], ["digest|nonce=b|realm=a"]),
            (["BASIC REALM=a, realm=b"], ["basic|realm=a"]), (["Basic a/b+c="], ["basic|a/b+c="]),
            (["Basic realm=\"\""], ["basic|realm="]), (["Basic"], ["basic"]), (["Basic "], ["basic"]),
        ])
    func challenges(_ values: [String], _ expected: [String]) { #expect(text(values) == expected) }

    @Test(
        "what is broken is left out, and the rest counts",
        arguments: [
            ([""], []), ([",,,"], []), (["=\"a\""], []), (["realm=\"a\""], []), (["\"Basic\" realm=a"], []),
            (["Basic realm=\"a"], ["basic"]), (["Basic realm=\"a\\"], ["basic"]),
            (["Basic realm=, Bearer"], ["basic|realm=", "bearer"]),
            (["(x), Basic realm=a"], ["basic|realm=a"]),
            (["Basic;x=\"a,Bearer\", Digest nonce=n"], ["digest|nonce=n"]),
            (["Basic realm=\"a", "Bearer"], ["basic", "bearer"]), (["Basic @@@, realm=a"], ["basic|realm=a"]),
        ] as [([String], [String])])
    func broken(_ values: [String], _ expected: [String]) { #expect(text(values) == expected) }

    @Test("hostile fields take time in proportion to their length, and have bounded results")
    func hostile() {
        let many = String(repeating: "Basic realm=a, ", count: 100_000)
        #expect(HTTPChallenge.parse([many, many]).count == 32)
        let parameters = (0..<10_000).map { "p\($0)=1" }.joined(separator: ",")
        #expect(HTTPChallenge.parse(["Digest \(parameters)"]).first?.parameters.count == 64)
        for piece in ["\"", "\\", "=", ",", " ", "a=\"", "\"a", "Basic ", "\u{0}", "é"] {
            #expect(HTTPChallenge.parse([String(repeating: piece, count: 200_000)]).count <= 32)
        }
    }

    @Test("random bytes never crash, and what is read is bounded by what came")
    func noise() {
        let alphabet = Array("Basic realm=\"a\\\",\t;/+ é\u{0}".unicodeScalars)
        for _ in 0..<3000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...60) {
                text.unicodeScalars.append(alphabet.randomElement() ?? "a")
            }
            let read = HTTPChallenge.parse([text]).reduce(0) { $0 + $1.scheme.utf8.count }
            #expect(read <= text.utf8.count)
        }
    }

    @Test("a response's offers: the strongest first, equal ones in the server's order")
    func offers() throws {
        let request = try SessionRequest("https://a.example/")
        var fields: HTTPFields = [
            .wwwAuthenticate: "Basic realm=\"b\", Foo, Digest algorithm=SHA-256, nonce=1"
        ]
        fields.append(
            HTTPField(name: .wwwAuthenticate, value: "NTLM, Digest nonce=2, Bearer realm=t, Negotiate"))
        fields.append(HTTPField(name: .proxyAuthenticate, value: "Basic realm=\"proxy\""))
        func offers(_ status: Int) -> [AuthenticationChallenge] {
            AuthenticationChallenge.offers(
                in: SessionResponse(url: request.url, statusCode: status, headerFields: fields),
                host: "A.example", port: 443)
        }
        #expect(
            offers(401).map(\.method) == [
                .negotiate, .bearer, .digest, .digest, .ntlm, .basic, .other("foo"),
            ])
        #expect(offers(401).compactMap { $0.httpChallenge?.parameters["nonce"] } == ["1", "2"])
        #expect(offers(401)[5].realm == "b")
        #expect(offers(401).allSatisfy { !$0.isProxy && $0.host == "a.example" && $0.port == 443 })
        #expect(offers(407).map(\.realm) == ["proxy"])
        #expect(offers(407).allSatisfy { $0.isProxy })
        #expect(offers(403).isEmpty)
    }

    @Test(
        "API-584 Digest is no offer where its answer would be wrong: an unknown algorithm, SHA-512-256, auth-int for a body",
        arguments: [
            ("Digest nonce=1", "digest digest"), ("Digest nonce=1, algorithm=md5-SESS", "digest digest"),
            ("Digest nonce=1, algorithm=\"SHA-256\", qop=\"auth\"", "digest digest"),
            ("Digest nonce=1, algorithm=SHA-512-256", "- -"), ("Digest nonce=1, algorithm=SHA3", "- -"),
            ("Digest nonce=1, qop=\"auth-int\"", "digest -"),
            ("Digest nonce=1, qop=\"auth-int,auth\"", "digest digest"),
            ("Digest nonce=1, qop=\"auth-int, auth\"", "digest digest"),
            // libcurl answers the first.
            ("Digest nonce=1, algorithm=SHA3, Digest nonce=2", "- -"),
            ("Digest nonce=1, Digest nonce=2, algorithm=SHA3", "digest digest"),
        ])
    func computable(_ challenge: String, _ expected: String) throws {
        let fields: HTTPFields = [.wwwAuthenticate: "\(challenge), Basic realm=\"b\""]
        let response = SessionResponse(
            url: try SessionRequest("https://a.example/").url, statusCode: 401, headerFields: fields)
        let offered = [false, true].map { hasBody in
            let offers = AuthenticationChallenge.offers(
                in: response, host: "a.example", port: 443, credential: nil, hasBody: hasBody)
            #expect(offers.last?.method == .basic)
            return offers.first?.method == .digest ? "digest" : "-"
        }
        #expect(offered.joined(separator: " ") == expected)
    }

    @Test("API-585 libcurl answers Digest with two stale nonces, and other schemes ten times")
    func rounds() {
        for (method, most) in [(AuthenticationMethod.digest, 3), (.ntlm, 10), (.negotiate, 10)] {
            var rounds = LibraryRounds()
            for _ in 0..<most { #expect(rounds.mayAnswer(method) && !rounds.isSpent) }
            #expect(!rounds.mayAnswer(method) && rounds.isSpent)
        }
    }

    @Test("what a credential writes into a header field (RFC 7617, RFC 6750)")
    func authorization() {
        let credential = Credential.password(user: "üser", password: "pä:ss")
        #expect(credential.authorization(for: .basic) == "Basic w7xzZXI6cMOkOnNz")
        #expect(credential.authorization(for: .digest) == nil)
        #expect(Credential.password(user: "a:b", password: "").authorization(for: .basic) == nil)
        #expect(Credential.password(user: "a", password: "b\r\nX: 1").authorization(for: .basic) == nil)
        #expect(Credential.bearer("abc.def").authorization(for: .bearer) == "Bearer abc.def")
        #expect(Credential.bearer("abc").authorization(for: .basic) == nil)
        #expect(Credential.bearer("a b").authorization(for: .bearer) == nil)
        #expect(Credential.bearer("").authorization(for: .bearer) == nil)
    }

    @Test("no way of printing a credential shows its secret")
    func secrets() {
        for credential in [Credential.password(user: "me", password: "s3cret"), .bearer("s3cret")] {
            var dumped = ""
            dump(credential, to: &dumped)
            let texts = [
                dumped, "\(credential)", String(reflecting: credential), String(reflecting: [credential]),
                "\(Optional(credential) as Any)",
            ]
            for text in texts { #expect(!text.contains("s3cret")) }
        }
    }
}
