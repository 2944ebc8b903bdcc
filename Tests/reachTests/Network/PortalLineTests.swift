// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What `reach status --probe` tells of uplinks behind portals, behind one router, and of half of a line.
@Suite(
    "Portals and shared routers", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct PortalLineTests {
    private func status(_ paths: TwoPaths) async throws -> String {
        let command = [
            "env", "-u", "http_proxy", "-u", "https_proxy", "-u", "all_proxy", "LC_ALL=C.UTF-8",
            BuiltProgram.reach, "status", "--probe", "\(paths.base)/quick",
        ]
        return try await paths.lab.near.reactor.run(command).text
    }

    private static let signIn = [
        "a0: sign in at http://10.1.0.1:8090/login", "b0: sign in at http://10.2.0.1:8090/login",
    ]

    @Test("UPL-315 A portal on the preferred line is told with its address, and which uplink has internet")
    func preferred() async throws {
        let paths = try await TwoPaths()
        let portal = try await paths.addPortal(["pa"])
        let text = try await status(paths)
        #expect(text.contains(Self.signIn[0]) && text.contains("; b0 has internet"), "\(text)")
        #expect(text.contains("internet portal; in use"), "\(text)")
        #expect(text.contains("internet full; default route via 10.2.0.1"), "\(text)")
        #expect(await portal.output.comes { $0.contains("10.1.0.2 /quick") })
        #expect(try await paths.requests(1).map(\.peer) == [TwoPaths.secondAddress])
    }

    @Test("UPL-316 Portals on both lines are told, each with its address, and no internet until one is left")
    func both() async throws {
        let paths = try await TwoPaths()
        let portal = try await paths.addPortal(["pa", "pb"])
        let text = try await status(paths)
        #expect(Self.signIn.allSatisfy { text.contains($0) }, "\(text)")
        #expect(!text.contains("has internet"), "\(text)")
        #expect(try await !paths.events.contains { $0.event == "request" })
        try await paths.removePortal("pb")
        let later = try await status(paths)
        #expect(later.contains(Self.signIn[0]) && later.contains("; b0 has internet"), "\(later)")
        portal.terminate()
    }

    @Test("UPL-317 Behind one router both uplinks are told with the dead line, and none as a way out")
    func oneRouter() async throws {
        let paths = try await TwoPaths()
        try await paths.joinRouters()
        try await paths.killLine("br0")
        let text = try await status(paths)
        for name in ["a0", "b0"] {
            let sentence = "\(name): the router 10.1.0.1 answers, the line behind it does not"
            #expect(text.contains(sentence), "\(text)")
        }
        #expect(!text.contains("has internet"), "\(text)")
    }

    @Test(
        "UPL-318 A line that carries one direction alone is told as dead",
        arguments: [TwoPaths.Direction.toServer, .fromServer])
    func oneWay(_ direction: TwoPaths.Direction) async throws {
        let paths = try await TwoPaths()
        try await paths.killLine("pa", direction)
        let text = try await status(paths)
        let sentence = "a0: the router 10.1.0.1 answers, the line behind it does not; b0 has internet"
        #expect(text.contains(sentence), "\(text)")
    }
}
