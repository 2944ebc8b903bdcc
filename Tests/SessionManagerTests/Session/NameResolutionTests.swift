// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Names that are looked up by https (RFC 8484): each one below `doh.test` is 127.0.0.1 there.
struct NameResolutionTests {
    /// A manager that asks the test origin for names and trusts its root.
    private func lab(_ key: String, _ policy: SecurityPolicy = .default) async throws -> Lab {
        let origin = try await TestSupport.Origin.shared
        let lab = try await Lab { $0.dnsOverHTTPS = origin.url("/dns-query?key=\(key)", at: .https) }
        lab.trustOrigin(policy)
        return lab
    }

    private func address(_ lab: Lab, _ host: String, at listener: OriginListener = .http) -> String {
        lab.origin.url("/get", at: listener, host: host)
    }

    @Test("API-475 Names are asked for by https, and once for requests that come one after the other")
    func lookup() async throws {
        let lab = try await lab("api475")
        // Its connection is not kept, so that the next request needs the address again.
        var request = try SessionRequest(address(lab, "device.doh.test"))
        try request.setValue("close", forHeader: "Connection")
        let first = try await lab.run(request)
        #expect(first.error == nil && first.response?.statusCode == 200, "\(first)")
        let count = try await lab.origin.count("api475")
        #expect((1...2).contains(count), "one for each family of addresses")
        #expect(try await lab.run(request).error == nil)
        #expect(try await lab.origin.count("api475") == count)
        #expect(try await lab.run(SessionRequest(address(lab, "other.doh.test"))).error == nil)
        #expect(try await lab.origin.count("api475") > count)
        // Addresses and names of the configuration are no question.
        let all = try await lab.origin.count("api475")
        #expect(try await lab.run(lab.request("/get")).error == nil)
        #expect(try await lab.run(lab.request("/get", at: .https)).error == nil)
        #expect(try await lab.origin.count("api475") == all)
    }

    @Test("API-475 Many at once, each with a name of its own, over few connections")
    func many() async throws {
        let lab = try await lab("api475-many")
        try await withThrowingTaskGroup(of: SessionError?.self) { group in
            for number in 0..<20 {
                group.addTask { try await lab.run(SessionRequest(address(lab, "n\(number).doh.test"))).error }
            }
            for try await error in group { #expect(error == nil) }
        }
    }

    @Test("API-476 A name that does not exist is an error which names the server that says so")
    func unknownName() async throws {
        let lab = try await lab("api476")
        let end = try await lab.run(SessionRequest(address(lab, "device.example")))
        #expect(end.error?.code == .cannotFindHost, "\(end)")
        #expect(end.error?.message.hasPrefix("origin.test has told no address of device.example") == true)
        #expect(try await lab.origin.count("api476") >= 1)
    }

    @Test("API-476 A server that is not proven, or does not answer, tells nothing, and no other is asked")
    func untrusted() async throws {
        let lab = try await lab("api476-untrusted")
        // The system's authorities do not know the origin's.
        lab.manager.securityPolicy = .default
        let end = try await lab.run(SessionRequest(address(lab, "device.doh.test")))
        #expect(
            end.error?.code == .cannotFindHost && end.error?.advice.contains("certificate") == true, "\(end)")
        var anything = SecurityPolicy()
        (anything.allowInvalidCertificates, anything.validatesDomainName) = (true, false)
        lab.manager.securityPolicy = anything
        #expect(
            try await lab.run(SessionRequest(address(lab, "device.doh.test"))).error?.code == .cannotFindHost)
        #expect(try await lab.origin.count("api476-untrusted") == 0)
        // `localhost` is no question, and would be found by the system.
        let dead = try await Lab {
            $0.dnsOverHTTPS = "https://127.0.0.1:\(lab.origin.port(.refused))/dns-query"
        }
        #expect(
            try await dead.run(SessionRequest(address(dead, "localhost.localdomain"))).error?.code
                == .cannotFindHost)
    }

    @Test("API-477 Pins and delegates are for the servers of requests, not for the one that looks names up")
    func policies() async throws {
        let origin = try await TestSupport.Origin.shared
        // Nothing has the pinned key: the question is answered, and the request refused.
        let lab = try await lab("api477", SecurityPolicy(pins: origin.pin(.otherRoot)))
        #expect(try await lab.run(SessionRequest(address(lab, "device.doh.test"))).error == nil)
        #expect(try await origin.count("api477") >= 1)
        let refused = try await lab.run(lab.request("/get", at: .https))
        #expect(refused.error?.code == .certificateUntrusted, "\(refused)")
        let pinned = try await self.lab("api477-pinned", SecurityPolicy(pins: origin.pin(.leaf)))
        #expect(try await pinned.run(SessionRequest(address(pinned, "device.doh.test"))).error == nil)
        #expect(try await pinned.run(pinned.request("/get", at: .https)).error == nil)
    }

    @Test(
        "API-478 A setting that cannot work says so, and nothing is sent",
        arguments: [
            ("http://127.0.0.1:1/dns-query", SessionError.Code.unsupportedURL), ("dns.example", .badURL),
            ("https://", .badURL), ("ftp://dns.example/", .badURL),
        ])
    func settings(_ server: String, _ code: SessionError.Code) async throws {
        let lab = try await Lab { $0.dnsOverHTTPS = server }
        let end = try await lab.run(lab.request("/get?key=api478"))
        #expect(end.error?.code == code, "\(end)")
        #expect(end.error?.advice.isEmpty == false || code == .badURL)
    }

    @Test("API-478 It is written down with the settings of a manager")
    func stored() throws {
        var configuration = SessionConfiguration()
        configuration.dnsOverHTTPS = "https://dns.example/dns-query"
        let data = try JSONEncoder().encode(configuration)
        #expect(try JSONDecoder().decode(SessionConfiguration.self, from: data) == configuration)
        #expect(configuration != SessionConfiguration())
    }
}
