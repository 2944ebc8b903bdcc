// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite struct ProxyTests {
    @Test("Requests are forwarded in the clear and tunnelled under TLS, whatever the name") func forwards()
        async throws
    {
        let curl = Curl(origin: try await .shared)
        let proxy = "http://127.0.0.1:\(curl.origin.port(.proxy))"
        let plain = try await curl("-x", proxy, curl.origin.url("/get", host: "no.such.test"))
        #expect(plain.text.contains("\"Via\": \"1.1 origin\"") && plain.text.contains("//no.such.test:"))
        let tunnelled = try await curl("-x", proxy, curl.origin.h2URL("/connection"))
        #expect(tunnelled.text.contains("\"protocol\": \"HTTP/2.0\""))
        #expect(try await curl("-x", proxy, curl.origin.tlsURL("/get")).text.contains("\"Via\"") == false)
        let seen = try await curl.origin.statistics("proxy").requests
        #expect(seen.contains { $0.hasPrefix("GET http://no.such.test:") })
        #expect(seen.contains("CONNECT origin.test:\(curl.origin.port(.h2))"))
        let format = "%{http_code}"
        let dead = try await curl("-x", proxy, "-w", format, curl.origin.url("/", at: .refused))
        #expect(dead.text == "502")
    }

    @Test("Requests with wrong credentials are refused") func credentials() async throws {
        let curl = Curl(origin: try await .shared)
        let port = curl.origin.port(.proxyAuth)
        let format = "%{http_code} %{http_connect}"
        func through(_ credentials: String, _ url: String) async throws -> String {
            try await curl(
                "-o", "/dev/null", "-w", format, "-x", "http://\(credentials)127.0.0.1:\(port)", url
            ).text
        }
        #expect(try await through("", curl.origin.url("/get")) == "407 000")
        #expect(try await through("user:wrong@", curl.origin.tlsURL("/get")) == "000 407")
        #expect(try await through("user:secret@", curl.origin.url("/get")) == "200 000")
        #expect(try await through("user:secret@", curl.origin.tlsURL("/get")) == "200 200")
    }
}
