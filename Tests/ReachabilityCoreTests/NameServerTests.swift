// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ReachabilityCore

struct NameServerTests {
    @Test(
        "UPL-456 a name server's text: port, zone and name as systemd and resolv.conf write them",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("192.0.2.1#dns.example", "192.0.2.1"),
            ("192.0.2.1:5353", "192.0.2.1:5353"),
            ("192.0.2.1:53", "192.0.2.1"), ("192.0.2.1:5353%eth0#dns.example", "192.0.2.1:5353"),
            ("2001:db8::1", "2001:db8::1"), ("[2001:db8::1]", "2001:db8::1"),
            ("[2001:db8::1]:5353%3", "[2001:db8::1]:5353"), ("fe80::1%eth0", "fe80::1"),
        ])
    func text(_ text: String, expected: String) throws {
        #expect(try #require(NameServer(text)).description == expected)
    }

    @Test(
        "UPL-456 what is no name server",
        arguments: [
            "", "dns.example", "192.0.2.1:", "192.0.2.1:0", "192.0.2.1:65536", "192.0.2.1:+53",
            "[192.0.2.1]:53",
            "[2001:db8::1", "[2001:db8::1]53", "[2001:db8::1]:", "2001:db8::1]:53", "fe80::1%", "#name",
            "%eth0", ":53",
        ])
    func none(_ text: String) { #expect(NameServer(text) == nil) }

    @Test("UPL-456 a server with a zone is asked over that link alone")
    func zone() throws {
        let free = try #require(NameServer("192.0.2.1"))
        #expect(free.isReached(over: "eth0", 2))
        for zone in ["eth0", "2"] {
            let bound = try #require(NameServer("fe80::1%\(zone)"))
            #expect(bound.isReached(over: "eth0", 2) && !bound.isReached(over: "wlan0", 3))
        }
    }
}
