// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
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
}
