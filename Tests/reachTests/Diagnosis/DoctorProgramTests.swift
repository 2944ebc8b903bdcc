// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `reach doctor` on a real kernel, with one thing broken at a time.
@Suite(
    "The program: doctor",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct DoctorProgramTests {
    /// Answers by path: a redirect to a sign-in page, such a page itself, an old date, much content.
    private static let server = """
        import http.server, socketserver
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            def log_message(self, *_): pass
            def date_time_string(self, timestamp=None):
                return 'Thu, 01 Jan 2015 00:00:00 GMT' if self.path == '/old' else super().date_time_string(timestamp)
            def do_GET(self):
                body = bytes(200_000 if self.path == '/big' else 10)
                if self.path == '/page': body = b'<html><title>Hotel Wi-Fi</title>'
                if self.path == '/own': body = b'reach ok'
                self.send_response(302 if self.path == '/portal' else 200)
                if self.path == '/portal': self.send_header('Location', 'http://login.hotel.example/')
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def do_CONNECT(self):
                self.send_response(407 if self.path.startswith('www.') else 403)
                self.send_header('Proxy-Authenticate', 'Basic realm="x"')
                self.send_header('Content-Length', '0')
                self.end_headers()
        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer): daemon_threads = True
        server = Server(('0.0.0.0', 8080), Handler)
        print('ready', flush=True)
        server.serve_forever()
        """

    private func lab(_ fixture: NetworkLab.Fixture = .f1) async throws -> (NetworkLab, RunningProgram) {
        let lab = try await NetworkLab(fixture)
        let server = try await lab.far.start(["/usr/bin/python3", "-B", "-c", Self.server])
        guard await server.output.wait(forCount: 1).first == "ready" else {
            throw LabError("the server does not start: \(server.standardError)")
        }
        return (lab, server)
    }

    /// Runs the program; `files` replace the system's files.
    private func doctor(
        _ lab: NetworkLab, _ arguments: String..., files: [String: String] = [:], proxies: String = ""
    ) async throws -> (status: TestSupport.ExitStatus, text: String) {
        try await doctor(lab, arguments, files: files, proxies: proxies)
    }

    private func doctor(
        _ lab: NetworkLab, _ arguments: [String], files: [String: String] = [:], proxies: String = ""
    ) async throws -> (status: TestSupport.ExitStatus, text: String) {
        // In a mount namespace of its own, which leaves nothing behind.
        var script = "unset http_proxy https_proxy HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY\n"
        script += "LC_ALL=C.UTF-8; export LC_ALL\nmount -t tmpfs none /mnt\n"
        if !proxies.isEmpty { script += "export \(proxies)\n" }
        for (index, (path, content)) in files.enumerated() {
            script += "printf '%s\\n' '\(content)' >/mnt/\(index); mount --bind /mnt/\(index) \(path)\n"
        }
        script += "exec \"$0\" doctor \"$@\""
        let result = try await lab.near.reactor.run(
            ["unshare", "-m", "/bin/sh", "-ec", script, BuiltProgram.reach] + arguments)
        return (result.status, result.text + result.errors)
    }

    @Test("Nothing is wrong")
    func healthy() async throws {
        let (lab, server) = try await lab()
        let end = try await doctor(lab, "http://10.0.0.1:8080/big")
        #expect(end.status == .exited(0))
        #expect(end.text.contains("● answer      10.0.0.1 answers with status 200"), "\(end.text)")
        #expect(end.text.hasSuffix("\n\nnothing is wrong\n"), "\(end.text)")
        let alone = try await doctor(lab)
        #expect(alone.status == .exited(0))
        #expect(alone.text.contains("name a server of yours"), "\(alone.text)")
        let json = try await doctor(lab, "http://10.0.0.1:8080/", "--json")
        #expect(
            json.text.hasPrefix(#"{"schema":1,"url":"http://10.0.0.1:8080/","findings":[{"check":"path","#))
        #expect(json.text.hasSuffix("\"cause\":null}\n"), "\(json.text)")
        server.terminate()
    }

    @Test("No carrier; nothing is asked of the server then")
    func noCarrier() async throws {
        let lab = try await NetworkLab(.f1)
        try await lab.far.ip("link set p0 down")
        try await lab.near.ip("-o link show v0") { $0.contains("NO-CARRIER") }
        let end = try await doctor(lab, "http://10.0.0.1:8080/")
        #expect(end.status == .exited(1))
        #expect(end.text.contains("cause: v0: no carrier"), "\(end.text)")
        #expect(end.text.contains("try:   look at cable, switch or antenna of v0"), "\(end.text)")
        #expect(!end.text.contains("IPv4"), "\(end.text)")
    }

    @Test("No address; a prohibited route")
    func noAddress() async throws {
        let lab = try await NetworkLab(.f1)
        try await lab.near.ip(batch: "addr flush dev v0\nroute add default dev v0")
        let end = try await doctor(lab)
        #expect(end.status == .exited(1))
        #expect(end.text.contains("try:   look whether a DHCP server answers on v0"), "\(end.text)")
        try await lab.near.ip("route replace prohibit default")
        let forbidden = try await doctor(lab)
        #expect(
            forbidden.text.contains("try:   a rule or a route of this machine forbids it"),
            "\(forbidden.text)")
        #expect(forbidden.text.contains("ip route show type prohibit"), "\(forbidden.text)")
    }

    @Test("No default route, but the server is near")
    func near() async throws {
        let (lab, server) = try await lab()
        try await lab.near.ip("route del default")
        let end = try await doctor(lab, "http://10.0.0.1:8080/")
        #expect(end.status == .exited(0), "\(end.text)")
        let far = try await doctor(lab, "http://192.0.2.7/")
        #expect(far.status == .exited(1))
        #expect(far.text.contains("no default route"), "\(far.text)")
        server.terminate()
    }

    @Test("A gateway that is not there")
    func noGateway() async throws {
        let lab = try await NetworkLab(.f1)
        try await lab.far.ip("addr del 10.0.0.1/24 dev p0")
        let end = try await doctor(lab, "http://192.0.2.7/")
        #expect(end.status == .exited(1))
        #expect(end.text.contains("the gateway 10.0.0.1 is not there"), "\(end.text)")
    }

    @Test("A server on the link itself that is not there, and neither is the gateway")
    func noNeighbour() async throws {
        let lab = try await NetworkLab(.f1)
        try await lab.far.ip("addr del 10.0.0.1/24 dev p0")
        // The kernel has asked for the gateway as well, and got no answer.
        _ = try await doctor(lab, "http://192.0.2.7/")
        let end = try await doctor(lab, "http://10.0.0.9/")
        #expect(end.status == .exited(1))
        #expect(end.text.contains("no device on v0 has this address (no answer to ARP)"), "\(end.text)")
        #expect(end.text.contains("try:   look whether the server is switched on"), "\(end.text)")
        #expect(!end.text.contains("gateway"), "\(end.text)")
    }

    @Test(
        "FLD-009 a router that refuses is told apart from one behind which nothing answers",
        arguments: [
            ("prohibit", "10.0.0.1 on the way refuses (ICMP: administratively prohibited)"),
            ("unreachable", "10.0.0.1 on the way refuses (ICMP: host unreachable)"),
        ])
    func refusedOnTheWay(kind: String, sentence: String) async throws {
        let lab = try await NetworkLab(.f1)
        try await lab.far.sysctl("net.ipv4.ip_forward", "1")
        try await lab.far.ip("route add \(kind) 192.0.2.0/24")
        let end = try await doctor(lab, "http://192.0.2.7/")
        #expect(end.status == .exited(1))
        #expect(end.text.contains("cause: 192.0.2.7:80: \(sentence)"), "\(end.text)")
        #expect(end.text.contains("fine up to 10.0.0.1"), "\(end.text)")
        #expect(!end.text.contains("nothing comes back"), "\(end.text)")
    }

    @Test("FLD-009 so by IPv6")
    func refusedOnTheWayByIPv6() async throws {
        let lab = try await NetworkLab(.f1)
        try await lab.near.sysctl("net.ipv6.conf.v0.disable_ipv6", "0")
        try await lab.far.sysctl("net.ipv6.conf.p0.disable_ipv6", "0")
        try await lab.near.ip("-6 addr add 2001:db8::2/64 dev v0 nodad")
        try await lab.far.ip("-6 addr add 2001:db8::1/64 dev p0 nodad")
        try await lab.near.ip("-6 route add default via 2001:db8::1")
        try await lab.far.sysctl("net.ipv6.conf.all.forwarding", "1")
        try await lab.far.ip("-6 route add prohibit 2001:db8:7::/48")
        let end = try await doctor(lab, "http://[2001:db8:7::1]/")
        #expect(
            end.text.contains(
                "2001:db8::1 on the way refuses (ICMP: administratively prohibited)"), "\(end.text)")
    }

    @Test(
        "FLD-083 a firewall of this machine that drops what leaves is told as that",
        arguments: ["", "tcp dport 80"])
    func ownFirewall(_ match: String) async throws {
        let lab = try await NetworkLab(.f1)
        try await lab.near.run(
            "nft",
            "add table inet t; add chain inet t c { type filter hook output priority 0; }; add rule inet t c \(match) drop"
        )
        let end = try await doctor(lab, "http://10.0.0.1/")
        #expect(end.status == .exited(1))
        #expect(end.text.contains("cause: 10.0.0.1:80: this machine drops the packets"), "\(end.text)")
        #expect(end.text.contains("nft list ruleset"), "\(end.text)")
        // Where they leave and no answer comes, the way is looked at.
        try await lab.near.run("nft", "flush ruleset")
        try await lab.far.run(
            "nft",
            "add table inet t; add chain inet t c { type filter hook input priority 0; }; add rule inet t c tcp dport 80 drop"
        )
        let silent = try await doctor(lab, "http://10.0.0.1/")
        #expect(silent.text.contains("nothing comes back"), "\(silent.text)")
    }

    @Test("No name server answers")
    func names() async throws {
        let (lab, server) = try await lab()
        let end = try await doctor(
            lab, "http://www.example.org/",
            files: ["/etc/resolv.conf": "nameserver 10.0.0.1\noptions timeout:1 attempts:1"])
        #expect(end.status == .exited(1))
        #expect(end.text.contains("cause: no name server answers (10.0.0.1)"), "\(end.text)")
        server.terminate()
    }

    @Test("FLD-107 a name server that refuses")
    func refusingServer() async throws {
        let lab = try await NetworkLab(.f1)
        let script = """
            import socket
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            s.bind(("10.0.0.1", 53))
            print("ready", flush=True)
            while True:
                question, peer = s.recvfrom(4096)
                s.sendto(question[:2] + b"\\x81\\x85" + question[4:], peer)
            """
        let server = try await lab.far.start(["/usr/bin/python3", "-B", "-c", script])
        try #require(await server.output.wait(forCount: 1).first == "ready")
        let end = try await doctor(
            lab, "http://www.example.org/",
            files: ["/etc/resolv.conf": "nameserver 10.0.0.1\noptions timeout:1 attempts:1"])
        #expect(end.status == .exited(1))
        #expect(
            end.text.contains("cause: the name server 10.0.0.1 refuses to answer this device (REFUSED)"),
            "\(end.text)")
        server.terminate()
    }

    @Test("IPv6 is broken, IPv4 works")
    func brokenIPv6() async throws {
        let (lab, server) = try await lab(.f1f6)
        try await lab.far.run(
            "nft",
            "add table ip6 t; add chain ip6 t c { type filter hook input priority 0; }; add rule ip6 t c meta l4proto tcp drop"
        )
        let end = try await doctor(
            lab, "http://both.test:8080/", files: ["/etc/hosts": "10.0.0.1 both.test\n2001:db8::1 both.test"])
        #expect(end.status == .exited(1))
        #expect(end.text.contains("● IPv4        10.0.0.1:8080 answers"), "\(end.text)")
        #expect(end.text.contains("cause: IPv6 is broken: [2001:db8::1]:8080 does not answer"), "\(end.text)")
        server.terminate()
    }

    @Test("A proxy of the environment that is not there; one that is; a server that is an exception")
    func proxy() async throws {
        let (lab, server) = try await lab()
        let dead = try await doctor(
            lab, "http://10.0.0.1:8080/", proxies: "http_proxy=http://me:secret@10.0.0.1:3128")
        #expect(dead.status == .exited(1))
        #expect(
            dead.text.contains("cause: http_proxy leads through 10.0.0.1:3128, and nothing listens there"),
            "\(dead.text)")
        #expect(dead.text.contains("try:   without the proxy 10.0.0.1 can be reached: unset http_proxy"))
        #expect(!dead.text.contains("secret"))
        let nameless = try await doctor(
            lab, "http://www.example.org/",
            files: ["/etc/resolv.conf": "nameserver 10.0.0.1\noptions timeout:1 attempts:1"],
            proxies: "all_proxy=proxy.example")
        #expect(nameless.text.contains("cause: all_proxy leads through proxy.example:1080, and "))
        #expect(nameless.text.contains("try:   correct all_proxy where it is set"), "\(nameless.text)")
        // The proxy here is the same server, which gets the whole URL.
        let alive = try await doctor(
            lab, "http://www.example.org/", proxies: "http_proxy=10.0.0.1:8080")
        #expect(alive.status == .exited(0), "\(alive.text)")
        #expect(alive.text.contains("● proxy       http_proxy leads through 10.0.0.1:8080, which answers"))
        #expect(!alive.text.contains("name  "), "\(alive.text)")
        for (name, cause) in [
            ("www", "a proxy wants a user name"),
            ("api", "the proxy 10.0.0.1:8080 does not let through to api.example.org:443: status 403"),
        ] {
            let refused = try await doctor(
                lab, "https://\(name).example.org/", proxies: "https_proxy=10.0.0.1:8080")
            #expect(refused.status == .exited(1), "\(refused.text)")
            #expect(refused.text.contains("cause: \(cause)"), "\(refused.text)")
        }
        let excepted = try await doctor(
            lab, "http://10.0.0.1:8080/", proxies: "http_proxy=10.0.0.1:3128 no_proxy=10.0.0.0/8")
        #expect(excepted.status == .exited(0) && !excepted.text.contains("proxy"), "\(excepted.text)")
        server.terminate()
    }

    @Test("A captive portal")
    func portal() async throws {
        let (lab, server) = try await lab()
        let end = try await doctor(lab, "http://10.0.0.1:8080/portal")
        #expect(end.status == .exited(1))
        #expect(end.text.contains("10.0.0.1 sends to login.hotel.example: a captive portal"), "\(end.text)")
        // A page that answers in the server's place with status 200 is reported, and detected if the expected
        // answer is given.
        let page = try await doctor(lab, "http://10.0.0.1:8080/page")
        #expect(page.status == .exited(0))
        #expect(page.text.contains(#"answers with status 200, a web page: "Hotel Wi-Fi""#), "\(page.text)")
        #expect(
            page.text.contains("\nnothing is wrong\nnote:  a page to sign in looks the same"), "\(page.text)")
        for wrong in [["--probe-body", "reach "], ["--probe-status", "204"]] {
            let other = try await doctor(lab, ["http://10.0.0.1:8080/page"] + wrong)
            #expect(other.status == .exited(1), "\(other.text)")
            #expect(other.text.contains("which is not what it should"), "\(other.text)")
            #expect(other.text.contains("sign in with a browser"), "\(other.text)")
        }
        let own = try await doctor(lab, "http://10.0.0.1:8080/own", "--probe-body", "reach ")
        #expect(own.status == .exited(0) && own.text.contains("status 200, as it should"), "\(own.text)")
        server.terminate()
    }

    @Test("A clock that is years ahead of the server's")
    func clock() async throws {
        let (lab, server) = try await lab()
        let end = try await doctor(lab, "http://10.0.0.1:8080/old")
        #expect(end.status == .exited(1))
        #expect(end.text.contains("cause: this machine's clock is 1"), "\(end.text)")
        #expect(end.text.contains(" years ahead"), "\(end.text)")
        server.terminate()
    }

    @Test("Big packets are lost on the way")
    func bigPackets() async throws {
        let (lab, server) = try await lab()
        // Otherwise netfilter counts many packets as one big one (segmentation offload).
        try await lab.far.ip("link set p0 gso_max_segs 1")
        try await lab.far.run(
            "nft",
            "add table ip t; add chain ip t c { type filter hook output priority 0; }; add rule ip t c ip length > 900 drop"
        )
        let end = try await doctor(lab, "http://10.0.0.1:8080/big")
        #expect(end.status == .exited(1))
        #expect(end.text.contains("cause: big packets are lost on the way"), "\(end.text)")
        #expect(end.text.contains("the MTU of 1500 of v0"), "\(end.text)")
        server.terminate()
    }

    @Test(
        "UPL-287 This machine's own big packets are lost: the size that gets through, and behind which router"
    )
    func ownBigPackets() async throws {
        let (lab, server) = try await lab()
        try await lab.near.ip("link set v0 gso_max_segs 1")
        try await lab.far.run(
            "nft",
            "add table ip t; add chain ip t c { type filter hook input priority 0; }; add rule ip t c ip length > 1280 drop"
        )
        let end = try await doctor(lab, "http://10.0.0.1:8080/")
        #expect(end.status == .exited(1))
        let sentence = "v0: packets of more than 1,280 bytes are lost "
        #expect(end.text.contains("cause: \(sentence)"), "\(end.text)")
        #expect(end.text.contains("the MTU of 1500 of v0"), "\(end.text)")
        // A router in between that takes everything changes nothing.
        try await lab.far.run("nft", "delete table ip t")
        let good = try await doctor(lab, "http://10.0.0.1:8080/")
        #expect(good.status == .exited(0), "\(good.text)")
        server.terminate()
    }
}
