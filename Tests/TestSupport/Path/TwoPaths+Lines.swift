// SPDX-License-Identifier: Apache-2.0

/// Lines behind the routers of the lab, which die and come back.
extension TwoPaths {
    /// What a dead line lets through: nothing, or one direction.
    package enum Direction: Sendable, CaseIterable {
        case both, toServer, fromServer
    }

    /// The addresses that a line carries.
    package enum Family: String, Sendable, CaseIterable {
        case ipv4, ipv6
    }

    /// Kills the line behind a router of the client: `pa`, `pb`, `pc` or `br0` still answers for itself, and
    /// nothing of the server comes through.
    ///
    /// - Parameter family: the addresses that do not come through; nil for both.
    package func killLine(
        _ router: String = "pa", _ direction: Direction = .both, family: Family? = nil
    ) async throws {
        try await lab.far.run("nft", Self.rules(router, direction, family))
    }

    /// Has a line that was killed let everything through again.
    package func reviveLine(_ router: String = "pa") async throws {
        try await lab.far.run("nft", "delete table inet \(router)")
    }

    /// Drops the packets of the client that come through routers and fit one of these expressions of nft(8).
    package func lose(_ packets: String..., over routers: String = "pa") async throws {
        let rules = packets.map { "add rule inet loss i iifname { \(routers) } \($0) drop" }
        try await lab.far.run(
            "nft",
            "add table inet loss; add chain inet loss i { type filter hook input priority 0; }; "
                + rules.joined(separator: "; "))
    }

    /// Lets them through again.
    package func endLoss() async throws { try await lab.far.run("nft", "delete table inet loss") }

    private static func rules(_ router: String, _ direction: Direction, _ family: Family?) -> String {
        // Neighbours of IPv6 are asked for by multicast, and answer from addresses of the link.
        var to = ["ip6 daddr 2001:db8:9::1"]
        var from = ["ip6 saddr 2001:db8:9::1"]
        if family == .ipv4 { (to, from) = ([], []) }
        if family != .ipv6 {
            let own = gateway(of: router)
            to.append("ip daddr != \(own)")
            from.append("ip saddr != \(own)")
        }
        var rules = ["add table inet \(router)"]
        if direction != .fromServer {
            rules.append("add chain inet \(router) i { type filter hook input priority 0; }")
            rules += to.map { "add rule inet \(router) i iifname \(router) \($0) drop" }
        }
        if direction != .toServer {
            rules.append("add chain inet \(router) o { type filter hook output priority 0; }")
            rules += from.map { "add rule inet \(router) o oifname \(router) \($0) drop" }
        }
        return rules.joined(separator: "; ")
    }

    /// The router's own address.
    private static func gateway(of router: String) -> String {
        switch router {
        case "pb": "10.2.0.1"
        case "pc": "10.3.0.1"
        default: "10.1.0.1"
        }
    }

    /// Has the first line die and come back every two seconds, so many times; the last time it comes back at
    /// once and the program ends.
    ///
    /// It writes a line every tenth of a second.
    package func alternateLine(times: Int) async throws -> RunningProgram {
        let script = """
            n=1
            while :; do
              nft "$0" || exit
              for i in 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9; do echo dead; sleep 0.1; done
              nft delete table inet pa
              [ $n = $1 ] && exit
              for i in 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9; do echo alive; sleep 0.1; done
              n=$((n + 1))
            done
            """
        return try await lab.far.start("/bin/sh", "-c", script, Self.rules("pa", .both, nil), "\(times)")
    }
}

/// Other shapes of the lab.
extension TwoPaths {
    /// The addresses of the server of both families for `SessionConfiguration.hostAddresses`.
    ///
    /// - Parameter first: the family that is tried first.
    package func dualAddresses(_ first: Family) -> [String] {
        let addresses = ["[2001:db8:9::1]", "10.9.0.1"]
        let ordered = first == .ipv6 ? addresses : addresses.reversed()
        return ["server.test:8080:\(ordered.joined(separator: ","))"]
    }

    /// Adds a third cable: c0 10.3.0.2 with a default route of metric 300; its router is `pc`.
    package func addThirdPath() async throws {
        try await lab.near.ip(
            "link add c0 index 13 type veth peer name pc index 23 netns \(lab.far.path)")
        try await lab.far.ip(batch: "link set pc up\naddr add 10.3.0.1/24 dev pc")
        try await lab.near.ip(
            batch: """
                link set c0 up
                addr add 10.3.0.2/24 dev c0
                route add default via 10.3.0.1 dev c0 metric 300
                """)
        try await lab.near.ip("-o link show c0") { $0.contains("state UP") }
    }

    /// Plugs both cables into one router, `br0` 10.1.0.1: b0 has 10.1.0.3 and the same gateway then.
    package func joinRouters() async throws {
        // Each link answers for its own address alone.
        try await lab.near.sysctl("net.ipv4.conf.all.arp_ignore", "1")
        try await lab.near.sysctl("net.ipv4.conf.all.arp_announce", "2")
        try await lab.far.ip(
            batch: """
                link add br0 type bridge forward_delay 0
                addr del 10.1.0.1/24 dev pa
                addr del 10.2.0.1/24 dev pb
                link set pa master br0
                link set pb master br0
                addr add 10.1.0.1/24 dev br0
                link set br0 up
                """)
        try await lab.near.ip(
            batch: """
                addr del 10.2.0.2/24 dev b0
                addr add 10.1.0.3/24 dev b0
                route add default via 10.1.0.1 dev b0 metric 200
                neigh flush dev a0
                neigh flush dev b0
                """)
        try await lab.far.ip("-o link show br0") { $0.contains("state UP") }
    }

    /// The client's address in the tunnel, as the server sees it.
    package static let tunnelAddress = "172.16.0.2"

    /// Builds a tunnel to the server, `vx0`, whose packets go over the first line; false where the kernel has
    /// none.
    ///
    /// 10.9.0.1 is reached through it, and 10.9.0.3 beside it; the server has to be everywhere.
    package func addTunnel() async throws -> Bool {
        let end = try await lab.near.reactor.run([
            "ip", "link", "add", "vx0", "mtu", "1400", "type", "vxlan", "id", "7", "local", "10.1.0.2",
            "remote",
            "10.9.0.2", "dstport", "4789",
        ])
        guard end.status == .exited(0) else { return false }
        try await lab.far.ip(
            batch: """
                addr add 10.9.0.2/32 dev lo
                addr add 10.9.0.3/32 dev lo
                link add vx1 mtu 1400 type vxlan id 7 local 10.9.0.2 remote 10.1.0.2 dstport 4789
                addr add 172.16.0.1/24 dev vx1
                link set vx1 up
                """)
        try await lab.near.ip(
            batch: """
                addr add \(Self.tunnelAddress)/24 dev vx0
                link set vx0 up
                route add 10.9.0.1/32 via 172.16.0.1 dev vx0
                """)
        return true
    }

    /// Whether the client has a connection with its address `source` to the server.
    package func hasConnection(from source: String) async throws -> Bool {
        try await !lab.near.run("ss", "-Htn", "state", "established", "src", source).isEmpty
    }
}
