// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc

/// Two cables to one slow server (`Tests/Origin/throttled`), 10.9.0.1, and ways to lose the first one.
package final class TwoPaths: Sendable {
    /// The fate of the preferred path.
    package enum Cut: String, Sendable, CaseIterable {
        case linkDown, carrierLost, addressRemoved, routeDeleted, routeReplaced, linkRemoved
    }

    /// A message of the server.
    package struct Event: Sendable, Decodable {
        package let event: String
        package let at: Double
        package let peer: String?
        /// The address at which the request arrived.
        package let server: String?
        package let method: String?
        package let path: String?
        /// The query of the request.
        package let query: String?
        package let connection: Int?
        package let start: Int?
        package let twice: Int?
        package let count: Int?
        package let sha256: String?
    }

    package let lab: NetworkLab
    /// A folder that is removed with this object.
    package let folder: String
    /// `http://10.9.0.1:8080`, or https.
    package let base: String
    private let size: Int
    private let server: RunningProgram

    /// Builds the network and starts the server.
    ///
    /// - Parameters:
    ///   - size: the length of `/blob`.
    ///   - rate: bytes a second.
    ///   - isEverywhere: whether the server listens on all addresses.
    ///   - isIPv6: whether the server has only an IPv6 address.
    ///   - isDual: whether it has one of each family, and a name: the client needs ``dualAddresses(_:)``.
    ///   - isSecure: whether the server uses TLS, with the certificate `server.pem` of the folder.
    package init(
        size: Int = 2 << 20, rate: Int = 64 << 20, isEverywhere: Bool = false, isIPv6: Bool = false,
        isDual: Bool = false, isSecure: Bool = false
    ) async throws {
        self.size = size
        var template = Array("\(TemporaryFolder.path)/reach-paths-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw LabError("mkdtemp: \(errno)") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        lab = try await NetworkLab(.f2)
        try await lab.far.ip("addr add 10.9.0.1/32 dev lo")
        // No router answers on a link for what lies behind it (arp(7)).
        try await lab.far.sysctl("net.ipv4.conf.all.arp_ignore", "1")
        if isIPv6 || isDual { try await Self.buildIPv6(lab) }
        // Without IPv4 default routes its paths lead nowhere.
        if isIPv6 {
            try await lab.near.ip(
                batch: "route del default via 10.1.0.1\nroute del default via 10.2.0.1")
        }
        let address = isIPv6 ? "2001:db8:9::1" : "10.9.0.1"
        let listened = isDual ? "::" : isEverywhere ? "0.0.0.0" : address
        let script =
            "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Origin/throttled"
        var command = ["/usr/bin/python3", "-B", script, listened, "8080"]
        command += ["--size", "\(size)", "--rate", "\(rate)"]
        if isSecure {
            try await lab.far.run(
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-days", "2", "-subj", "/CN=10.9.0.1", "-addext", "subjectAltName=IP:10.9.0.1", "-keyout",
                "\(folder)/server.key", "-out", "\(folder)/server.pem")
            command += ["--tls", "\(folder)/server.pem", "\(folder)/server.key"]
        }
        let host = isDual ? "server.test" : isIPv6 ? "[\(address)]" : address
        base = "\(isSecure ? "https" : "http")://\(host):8080"
        server = try await lab.far.start(command)
        guard await server.output.wait(forCount: 1).first != nil else {
            throw LabError("the server does not start: \(server.standardError)")
        }
    }

    private static func buildIPv6(_ lab: NetworkLab) async throws {
        for (namespace, names) in [(lab.near, ["a0", "b0"]), (lab.far, ["lo", "pa", "pb"])] {
            for name in names { try await namespace.sysctl("net.ipv6.conf.\(name).disable_ipv6", "0") }
        }
        try await lab.far.ip(
            batch: """
                addr add 2001:db8:9::1/128 dev lo nodad
                addr add 2001:db8:1::1/64 dev pa nodad
                addr add 2001:db8:2::1/64 dev pb nodad
                """)
        try await lab.near.ip(
            batch: """
                addr add 2001:db8:1::2/64 dev a0 nodad
                addr add 2001:db8:2::2/64 dev b0 nodad
                route add default via 2001:db8:1::1 dev a0 metric 100
                route add default via 2001:db8:2::1 dev b0 metric 200
                """)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The interface that `cut` removes.
    package static let first = "a0"
    /// The interface that remains.
    package static let second = "b0"
    /// The client's address there, as the server sees it.
    package static let secondAddress = "10.2.0.2"

    /// The server's messages so far, those of all answers that a client has received among them.
    ///
    /// A client's answer may overtake the server's message in its pipe, so one more message is asked for.
    package var events: [Event] {
        get async throws {
            @Sendable func marks(_ lines: [String]) -> Int {
                Self.decode(lines).count { $0.event == "mark" }
            }
            let before = marks(server.output.elements)
            server.terminate(signal: SIGUSR2)
            let lines = await server.output.wait { marks($0) > before }
            guard marks(lines) > before else {
                throw LabError("the server is silent: \(server.standardError)")
            }
            return Self.decode(lines).filter { $0.event != "mark" }
        }
    }

    private static func decode(_ lines: [String]) -> [Event] {
        lines.compactMap { try? JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
    }

    /// The requests that have arrived, once there are this many.
    package func requests(_ count: Int) async throws -> [Event] {
        let seen = try await wait { $0.count { $0.event == "request" } >= count }
        return seen.filter { $0.event == "request" }
    }

    /// Waits until the server's messages satisfy `predicate`.
    @discardableResult
    package func wait(until predicate: @escaping @Sendable ([Event]) -> Bool) async throws -> [Event] {
        let seen = Self.decode(await server.output.wait { predicate(Self.decode($0)) })
        guard predicate(seen) else { throw LabError("the server has told only \(seen)") }
        return seen
    }

    /// Waits for a number of stalled bodies (`stall=`).
    package func waitForStalls(_ count: Int = 1) async throws {
        try await wait { $0.count { $0.event == "stalled" } >= count }
    }

    /// Resumes stalled bodies.
    package func release() { server.terminate(signal: SIGUSR1) }

    /// Waits until a file has this many bytes.
    package func wait(for file: String, bytes: Int) async throws {
        // The kernel notifies tail(1) when the file grows, and when its reader has closed the pipe.
        try await lab.near.run(
            "/bin/sh", "-c", "tail -c +1 -F \"$0\" 2>&- | head -c $1 >/dev/null", file, "\(bytes)")
    }

    /// Cuts the first path.
    package func cut(_ how: Cut) async throws {
        switch how {
        case .linkDown: try await lab.near.ip("link set a0 down")
        case .carrierLost: try await lab.far.ip("link set pa down")
        case .addressRemoved: try await lab.near.ip("addr del 10.1.0.2/24 dev a0")
        case .routeDeleted: try await lab.near.ip("route del default via 10.1.0.1")
        case .routeReplaced: try await lab.near.ip("route replace default via 10.2.0.1 dev b0 metric 100")
        case .linkRemoved: try await lab.near.ip("link del a0")
        }
    }

    /// The difference between a file and the content of `/blob`; empty for none.
    package func difference(of path: String) async throws -> String {
        let script = """
            import random, sys
            want, have = random.Random(1).randbytes(int(sys.argv[1])), open(sys.argv[2], 'rb').read()
            if want != have:
                same = next((i for i, (a, b) in enumerate(zip(want, have)) if a != b), min(len(want), len(have)))
                there = want.find(have[same:same + 64])
                print(f'{len(have)} bytes; from byte {same} on it has those from {there} on')
            """
        return try await lab.near.run("/usr/bin/python3", "-B", "-c", script, "\(size)", path)
    }

    /// The packets that have left through an interface.
    package func packets(_ name: String) async throws -> Int {
        let text = try await lab.near.run("cat", "/proc/thread-self/net/dev")
        for line in text.split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == ":" }
            if words.first == name[...], words.count > 10 { return Int(words[10]) ?? 0 }
        }
        throw LabError("no interface \(name)")
    }

    /// Waits until so many packets more have left through an interface.
    ///
    /// The kernel has no event for that: its counter is read twenty times a second.
    package func wait(forPackets count: Int, through name: String) async throws {
        let script =
            "n() { awk -v name=$0: '$1 == name { print $11 }' /proc/self/net/dev; }; "
            + "end=$(($(n) + $1)); while [ \"$(n)\" -lt $end ]; do sleep 0.05; done"
        try await lab.near.run("/bin/sh", "-c", script, name, "\(count)")
    }
}
