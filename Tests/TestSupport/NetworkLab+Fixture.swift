// SPDX-License-Identifier: Apache-2.0

extension NetworkLab {
    /// The initial networks of scenarios.
    ///
    /// The ends of a cable have different indexes on purpose: with equal ones the kernel delays the loss of
    /// the carrier (0.8 s instead of 20 ms; linkwatch treats only links as urgent whose lower one differs).
    package enum Fixture: Sendable, CaseIterable {
        /// Only `lo`, up.
        case f0
        /// A cable v0–p0, up: v0 (10) has 10.0.0.2/24 and the default route via 10.0.0.1, which is p0 (20).
        /// No IPv6.
        case f1
        /// The same cable with 2001:db8::2/64 and ::/0 via 2001:db8::1 only; no duplicate address detection.
        case f6
        /// Both on the same cable.
        case f1f6
        /// Two cables: a0 (11) 10.1.0.2/24 with the default route of metric 100, b0 (12) 10.2.0.2/24 with
        /// that of metric 200; their far ends are pa (21) and pb (22). No IPv6.
        case f2
    }

    func build(_ fixture: Fixture) async throws {
        for namespace in [near, far] {
            let isIPv6 = fixture == .f6 || fixture == .f1f6
            try await namespace.sysctl("net.ipv6.conf.all.disable_ipv6", isIPv6 ? "0" : "1")
            try await namespace.sysctl("net.ipv6.conf.default.disable_ipv6", isIPv6 ? "0" : "1")
            // Without automatic changes: no router discovery, no duplicate address detection.
            try await namespace.sysctl("net.ipv6.conf.default.accept_ra", "0")
            try await namespace.sysctl("net.ipv6.conf.default.accept_dad", "0")
            try await namespace.sysctl("net.ipv6.conf.default.router_solicitations", "0")
            try await namespace.ip("link set lo up")
        }
        switch fixture {
        case .f0: break
        case .f1: try await buildCable(addresses: v4)
        case .f6: try await buildCable(addresses: v6)
        case .f1f6: try await buildCable(addresses: (v4.far + "\n" + v6.far, v4.near + "\n" + v6.near))
        case .f2: try await buildTwoCables()
        }
    }

    private var v4: (far: String, near: String) {
        ("addr add 10.0.0.1/24 dev p0", "addr add 10.0.0.2/24 dev v0\nroute add default via 10.0.0.1 dev v0")
    }

    private var v6: (far: String, near: String) {
        (
            "addr add 2001:db8::1/64 dev p0 nodad",
            "addr add 2001:db8::2/64 dev v0 nodad\nroute add default via 2001:db8::1 dev v0"
        )
    }

    private func buildCable(addresses: (far: String, near: String)) async throws {
        try await near.ip(
            "link add v0 index 10 type veth peer name p0 index 20 netns \(far.path)")
        try await far.ip(batch: "link set p0 up\n\(addresses.far)")
        try await near.ip(batch: "link set v0 up\n\(addresses.near)")
        try await settle("v0", "p0")
        guard addresses.near.contains("::") else { return }
        // Each end gives itself a link-local address, which is tentative for an instant even without a check.
        for (namespace, name) in [(near, "v0"), (far, "p0")] {
            try await namespace.ip("-6 -o addr show dev \(name)") {
                $0.contains("fe80") && !$0.contains("tentative")
            }
        }
    }

    private func buildTwoCables() async throws {
        try await near.ip(
            batch: """
                link add a0 index 11 type veth peer name pa index 21 netns \(far.path)
                link add b0 index 12 type veth peer name pb index 22 netns \(far.path)
                """)
        try await far.ip(
            batch: """
                link set pa up
                link set pb up
                addr add 10.1.0.1/24 dev pa
                addr add 10.2.0.1/24 dev pb
                """)
        try await near.ip(
            batch: """
                link set a0 up
                link set b0 up
                addr add 10.1.0.2/24 dev a0
                addr add 10.2.0.2/24 dev b0
                route add default via 10.1.0.1 dev a0 metric 100
                route add default via 10.2.0.1 dev b0 metric 200
                """)
        try await settle("a0", "pa")
        try await settle("b0", "pb")
    }

    /// Waits until both ends of a cable are up: the kernel announces carriers from a work queue.
    private func settle(_ nearName: String, _ farName: String) async throws {
        try await near.ip("-o link show \(nearName)") { $0.contains("state UP") }
        try await far.ip("-o link show \(farName)") { $0.contains("state UP") }
    }
}
