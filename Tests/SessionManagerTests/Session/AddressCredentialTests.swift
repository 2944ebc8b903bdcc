// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// User and password that stand in a URL.
struct AddressCredentialTests {
    private func request(_ lab: Lab, _ path: String, _ credentials: String) throws -> SessionRequest {
        let address = lab.origin.url(path)
        return try SessionRequest("http://\(credentials)@\(address.dropFirst("http://".count))")
    }

    @Test(
        "FLD-070 user and password of a URL answer Digest as well as Basic",
        arguments: [
            "digest-auth/u/p", "digest-auth/u/p?algorithm=SHA-256", "digest-auth/u/p?stale=1",
            "basic-auth/u/p",
        ])
    func answered(_ path: String) async throws {
        let lab = try await Lab()
        let request = try request(lab, "/\(path)", "u:p")
        #expect(try await lab.manager.data(for: request).1.statusCode == 200)
        let (response, stream) = try await lab.manager.stream(for: request)
        #expect(response.statusCode == 200)
        for try await _ in stream {}
        let folder = try ScratchFolder()
        let file = DownloadDestination(folder("file"))
        #expect(try await lab.manager.download(request, to: file).statusCode == 200)
    }

    @Test("FLD-070 they are decoded, and a body goes with them")
    func encoded() async throws {
        let lab = try await Lab()
        var request = try request(lab, "/digest-auth/u@x/p%3Aq", "u%40x:p%3Aq")
        request.method = .post
        request.body = .data(Data("content".utf8))
        #expect(try await lab.manager.data(for: request).1.statusCode == 200)
    }

    @Test(
        "FLD-070 wrong ones end in 401, and Basic is not tried twice with the same",
        arguments: ["digest", "basic"])
    func wrong(_ scheme: String) async throws {
        let lab = try await Lab()
        let key = "fld070-wrong-\(scheme)"
        let request = try request(lab, "/\(scheme)-auth/u/p?key=\(key)", "u:wrong")
        let (content, response) = try await lab.manager.data(for: request)
        #expect(response.statusCode == 401)
        let bare = try await lab.manager.data(for: lab.request("/\(scheme)-auth/u/p"))
        #expect(scheme == "digest" || content == bare.0)
        if scheme == "basic" { #expect(try await lab.origin.count(key) == 1) }
    }

    @Test("FLD-070 no other origin gets them")
    func elsewhere() async throws {
        let lab = try await Lab()
        let key = "fld070-elsewhere"
        let target = lab.origin.url("/digest-auth/u/p?key=\(key)", at: .direct)
        let request = try request(lab, "/redirect-to?url=\(target)", "u:p")
        #expect(try await lab.manager.data(for: request).1.statusCode == 401)
        #expect(try await lab.origin.statistics(key).authorizations == [""])
    }

    @Test("FLD-070 a field of the caller's stands before them")
    func field() async throws {
        let lab = try await Lab()
        let key = "fld070-field"
        var request = try request(lab, "/digest-auth/u/p?key=\(key)", "u:p")
        request.headerFields[.authorization] = "Bearer token"
        #expect(try await lab.manager.data(for: request).1.statusCode == 401)
        #expect(try await lab.origin.statistics(key).authorizations == ["Bearer token"])
    }

    @Test("FLD-070 a proxy's address has them, too")
    func proxy() throws {
        let url = try SessionRequest("http://192.0.2.1/").url
        func credential(_ proxy: String) -> Credential? {
            ProxyChoice(for: url, configured: proxy, environment: [:])?.credential
        }
        #expect(credential("http://u%40x:p%3Aq@proxy:3128") == .password(user: "u@x", password: "p:q"))
        #expect(credential("u@proxy:3128") == .password(user: "u", password: ""))
        #expect(credential("http://proxy:3128") == nil)
    }
}
