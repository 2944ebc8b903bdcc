// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Names on two networks, each of which resolves them differently.
@Suite(
    "Names and paths",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct NameFailoverTests {
    /// A name server: 10.9.0.1 for queries over the first path, 10.9.0.2 over the second; silent on the first
    /// if requested.
    private static let nameServer = """
        import socket, struct, sys
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind(('10.9.0.1', 53))
        print('ready', flush=True)
        while True:
            query, peer = server.recvfrom(512)
            isFirst = peer[0] == '10.1.0.2'
            print('asked', peer[0], flush=True)
            if isFirst and sys.argv[1] == 'silent':
                continue
            end = query.index(0, 12) + 5
            isAddress = query[end - 4:end - 2] == b'\\0\\1'
            answer = query[:2] + struct.pack('>HHHHH', 0x8180, 1, isAddress, 0, 0) + query[12:end]
            if isAddress:
                answer += struct.pack('>HHHIH', 0xc00c, 1, 1, 3600, 4) + socket.inet_aton('10.9.0.1' if isFirst else '10.9.0.2')
            server.sendto(answer, peer)
        """

    private func start(_ paths: TwoPaths, silent: Bool = false) async throws -> RunningProgram {
        try await paths.lab.far.ip("addr add 10.9.0.2/32 dev lo")
        let program = try await paths.lab.far.start([
            "/usr/bin/python3", "-B", "-c", Self.nameServer, silent ? "silent" : "talks",
        ])
        await program.output.wait(forCount: 1)
        try await paths.lab.near.run(
            "/bin/sh", "-c", "echo nameserver 10.9.0.1 >\"$0\"", "\(paths.folder)/resolv.conf")
        return program
    }

    /// `reach get` with that name server alone.
    private func get(_ paths: TwoPaths, _ path: String, _ file: String) async throws -> RunningProgram {
        let start = """
            unset http_proxy https_proxy
            mount --bind "$1" /etc/resolv.conf
            exec "$0" get "$2" -o "$3"
            """
        return try await paths.lab.near.start([
            "unshare", "--mount", "/bin/sh", "-ec", start, BuiltProgram.reach, "\(paths.folder)/resolv.conf",
            "http://device.test:8080\(path)", file,
        ])
    }

    @Test("A name is asked again over the new path, whose word about it may be another")
    func asksAgain() async throws {
        let paths = try await TwoPaths(isEverywhere: true)
        let names = try await start(paths)
        defer { names.terminate() }
        let file = "\(paths.folder)/blob"
        let program = try await get(paths, "/blob?stall=524288", file)
        try await paths.wait(for: "\(file).part", bytes: 512 << 10)
        try await paths.cut(.linkDown)
        #expect(try await program.status() == .exited(0), "\(program.standardError)")
        #expect(try await paths.difference(of: file) == "")
        let requests = try await paths.requests(2)
        #expect(requests.map(\.server) == ["10.9.0.1", "10.9.0.2"])
        #expect(requests.map(\.start) == [0, 512 << 10])
    }

    @Test("A path that dies while a name is being asked for is not waited for")
    func diesAsking() async throws {
        let paths = try await TwoPaths(isEverywhere: true)
        let names = try await start(paths, silent: true)
        defer { names.terminate() }
        let file = "\(paths.folder)/blob"
        let program = try await get(paths, "/blob", file)
        await names.output.wait { $0.contains("asked 10.1.0.2") }
        try await paths.cut(.linkDown)
        #expect(try await program.status() == .exited(0), "\(program.standardError)")
        #expect(try await paths.difference(of: file) == "")
        #expect(try await paths.requests(1).map(\.server) == ["10.9.0.2"])
        // glibc waits 5 s for the first query and repeats it once on the same socket.
        #expect(names.output.elements.count { $0 == "asked 10.1.0.2" } <= 2)
    }
}
