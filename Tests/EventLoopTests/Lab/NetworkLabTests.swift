// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The networks that scenarios begin with.
@Suite(.enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct NetworkLabTests {
    @Test func f0_HasLoopbackOnly() async throws {
        let lab = try await NetworkLab(.f0)
        let links = try await lab.near.ip("-o link show").split(separator: "\n")
        #expect(links.count == 1)
        #expect(links.first?.contains("LOOPBACK,UP") == true)
        #expect(try await lab.near.ip("route show table all default") == "")
    }

    @Test func f1_HasTheDefaultRoute_AndReachesTheOtherEnd() async throws {
        let lab = try await NetworkLab(.f1)
        #expect(try await lab.near.ip("-4 route show default") == "default via 10.0.0.1 dev v0 \n")
        let link = try await lab.near.ip("-o link show v0")
        #expect(link.hasPrefix("10: v0@if20: <BROADCAST,MULTICAST,UP,LOWER_UP>"))
        #expect(try await lab.near.ip("-6 addr show") == "")
        // No process listens at that port; the refusal comes from the other end.
        #expect(try await lab.near.perform { connect(to: 0x0A00_0001, port: 9) } == ECONNREFUSED)
    }

    @Test func f6_HasIPv6Only() async throws {
        let lab = try await NetworkLab(.f6)
        #expect(try await lab.near.ip("-6 route show default").hasPrefix("default via 2001:db8::1 dev v0"))
        #expect(try await lab.near.ip("-4 -o addr show dev v0") == "")
        #expect(try await !lab.near.ip("-6 -o addr show dev v0").contains("tentative"))
    }

    @Test func f1f6_HasBoth() async throws {
        let lab = try await NetworkLab(.f1f6)
        #expect(try await lab.near.ip("-4 route show default") != "")
        #expect(try await lab.near.ip("-6 route show default") != "")
    }

    @Test func f2_PrefersTheFirstCable() async throws {
        let lab = try await NetworkLab(.f2)
        #expect(try await lab.near.ip("route get 192.0.2.1").contains("via 10.1.0.1 dev a0 src 10.1.0.2"))
        #expect(try await lab.near.ip("-4 route show default").split(separator: "\n").count == 2)
    }

    @Test func carrier_FallsAndRises_WithTheFarEnd() async throws {
        let lab = try await NetworkLab(.f1)
        try await lab.far.ip("link set p0 down")
        try await lab.near.ip("-o link show v0") { $0.contains("NO-CARRIER") && !$0.contains("LOWER_UP") }
        try await lab.far.ip("link set p0 up")
        try await lab.near.ip("-o link show v0") { $0.contains("LOWER_UP") && $0.contains("state UP") }
    }

    @Test func manyLabs_RunBesideEachOther() async throws {
        try await withThrowingTaskGroup { group in
            for _ in 0..<12 {
                group.addTask {
                    let lab = try await NetworkLab(.f1)
                    return try await lab.near.ip("-4 route show default")
                }
            }
            for try await route in group { #expect(route == "default via 10.0.0.1 dev v0 \n") }
        }
    }

    @Test(
        .enabled(
            if: NetworkLab.isRequired || TunDevice.unavailableReason == nil,
            "\(TunDevice.unavailableReason ?? "")"))
    func tun_HasACarrier_WhileItIsRead() async throws {
        let lab = try await NetworkLab(.f1)
        let tunnel = try await TunDevice(in: lab.near)
        try await lab.near.ip("link set tun0 up")
        try await lab.near.ip("addr add 10.9.0.1/24 dev tun0")
        try await lab.near.ip("-o link show tun0") { $0.contains("NO-CARRIER") }
        try await tunnel.attach()
        try await lab.near.ip("-o link show tun0") { $0.contains("LOWER_UP") }
        try await tunnel.detach()
        try await lab.near.ip("-o link show tun0") { $0.contains("NO-CARRIER") }
        try await tunnel.attach()
        try await lab.near.ip("-o link show tun0") { $0.contains("LOWER_UP") }
    }

    @Test func wait_Fails_WithTheLastAnswer() async throws {
        let lab = try await NetworkLab(.f0)
        let error = await #expect(throws: LabError.self) {
            try await lab.near.ip("-o link show lo", within: .milliseconds(20)) { _ in false }
        }
        #expect(error?.description.contains("LOOPBACK") == true)
    }
}

/// Connects to an IPv4 address; the errno(3), or 0.
private func connect(to address: UInt32, port: UInt16) -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    name.sin_addr.s_addr = address.bigEndian
    let failure = withUnsafePointer(to: &name) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    return failure == 0 ? 0 : errno
}
