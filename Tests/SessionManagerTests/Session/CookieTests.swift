// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

struct CookieTests {
    private func cookies(_ lab: Lab, handlesCookies: Bool = true) async throws -> JSONValue? {
        var request = try lab.request("/cookies")
        request.options.handlesCookies = handlesCookies
        return try await lab.run(request).json?["cookies"]
    }

    @Test("what a server has set goes back to it with all later requests of the manager, and no other's")
    func jar() async throws {
        let lab = try await Lab()
        #expect(try await cookies(lab) == .object([:]))
        let set = try await lab.run(lab.request("/cookies/set?a=1&b=2"))
        #expect(set.json?["cookies"]?["a"] == "1" && set.json?["cookies"]?["b"] == "2")
        // Over several connections at once, so with several of libcurl's handles.
        try await withThrowingTaskGroup(of: JSONValue?.self) { group in
            for _ in 0..<8 { group.addTask { try await cookies(lab) } }
            for try await found in group { #expect(found?["a"] == "1" && found?["b"] == "2") }
        }
        _ = try await lab.run(lab.request("/cookies/delete?a"))
        let left = try await cookies(lab)
        #expect(left?["a"] == nil && left?["b"] == "2")
        #expect(try await cookies(try await Lab()) == .object([:]))
    }

    @Test("a request that handles no cookies neither sends nor stores any, before and after others")
    func without() async throws {
        let lab = try await Lab { $0.maximumConnectionsPerHost = 1 }
        var request = try lab.request("/cookies/set?a=1")
        request.options.handlesCookies = false
        #expect(try await lab.run(request).json?["cookies"] == .object([:]))
        #expect(try await cookies(lab) == .object([:]))
        _ = try await lab.run(lab.request("/cookies/set?b=2"))
        #expect(try await cookies(lab, handlesCookies: false) == .object([:]))
        #expect(try await cookies(lab)?["b"] == "2")
        request = try lab.request("/cookies/set?b=3")
        request.options.handlesCookies = false
        _ = try await lab.run(request)
        #expect(try await cookies(lab)?["b"] == "2")
    }

    @Test("API-590 a `Host` of the caller's says whose cookies they are, for its own exchange alone")
    func otherHost() async throws {
        let origin = try await TestSupport.Origin.shared
        let lab = try await Lab { $0.hostAddresses.append(origin.resolveEntry(.direct, host: "other.test")) }
        func cookies(_ path: String, host: String? = nil) async throws -> JSONValue? {
            var request = try SessionRequest(origin.url(path, at: .direct, host: "other.test"))
            if let host { try request.setValue(host, forHeader: "Host") }
            return try await lab.run(request).json?["cookies"]
        }
        #expect(try await cookies("/cookies/set?a=1", host: "virtual.test") == .object(["a": "1"]))
        #expect(try await cookies("/cookies") == .object([:]))
        #expect(try await cookies("/cookies/set?b=2") == .object(["b": "2"]))
        #expect(try await cookies("/cookies", host: "virtual.test") == .object(["a": "1"]))
        // A redirect's target, of another origin, has its own.
        let target = origin.url("/cookies", at: .direct, host: "other.test")
        var request = try SessionRequest(
            origin.url("/body?status=302&h=Set-Cookie:c%3D3&h=Location:\(target)", at: .http))
        try request.setValue("virtual.test", forHeader: "Host")
        #expect(try await lab.run(request).json?["cookies"] == .object(["b": "2"]))
    }

    @Test(
        "API-590 a request with such a `Host` may end while others use its connection",
        arguments: [OriginListener.https, .h2])
    func otherHostBesideOthers(_ listener: OriginListener) async throws {
        let lab = try await Lab { $0.maximumConnectionsPerHost = 4 }
        lab.trustOrigin()
        try await withThrowingTaskGroup(of: Int?.self) { group in
            for index in 0..<64 {
                var request = try lab.request("/bytes/20000", at: listener)
                if index % 2 == 0 { try request.setValue("virtual.test", forHeader: "Host") }
                let asked = request
                group.addTask { try await lab.manager.data(for: asked).1.statusCode }
            }
            for try await status in group { #expect(status == 200) }
        }
    }

    @Test("API-598 the caller's cookies and the session's are in one field, for this request alone")
    func oneField() async throws {
        let lab = try await Lab()
        _ = try await lab.run(lab.request("/cookies/set?a=1", at: .direct))
        func sent(_ own: [String], handlesCookies: Bool = true) async throws -> [String] {
            var request = try lab.request("/raw-headers", at: .direct)
            request.options.handlesCookies = handlesCookies
            for value in own { request.headerFields.append(HTTPField(name: .cookie, value: value)) }
            let (content, _) = try await lab.manager.data(for: request)
            return String(decoding: content, as: UTF8.self).split(whereSeparator: \.isNewline)
                .filter { $0.lowercased().hasPrefix("cookie:") }.map { String($0.dropFirst(8)) }
        }
        #expect(try await sent(["b=2"]) == ["a=1; b=2"])
        #expect(try await sent([]) == ["a=1"])
        #expect(try await sent(["b=2; c=3", "d=4"], handlesCookies: false) == ["b=2; c=3; d=4"])
        #expect(try await sent([], handlesCookies: false).isEmpty)
        // Another origin does not get it (`SensitiveFields`).
        let target = lab.origin.url("/raw-headers", at: .direct, host: "localhost")
        var request = try lab.request("/redirect-to?url=\(target)", at: .direct)
        request.headerFields[.cookie] = "b=2"
        let (content, _) = try await lab.manager.data(for: request)
        #expect(!String(decoding: content, as: UTF8.self).lowercased().contains("cookie"))
    }
}
