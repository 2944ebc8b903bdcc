// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

/// The internet behind each of two uplinks, as the program and the service tell it, on a real kernel.
@Suite(
    "The internet of each uplink", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct UplinkInternetTests {
    private struct Report: Decodable {
        struct Link: Decodable {
            let name: String
            let internet: String?
            let internetSince: String?
            let internetReason: String?
        }

        let internet: String?
        let portal: String?
        let event: String?
        let links: [Link]

        func link(_ name: String) -> Link? { links.first { $0.name == name } }
        /// "a0 limited, b0 full".
        var states: String { links.map { "\($0.name) \($0.internet ?? "null")" }.joined(separator: ", ") }
    }

    private static func decoded(_ line: String) -> Report? {
        try? JSONDecoder().decode(Report.self, from: Data(line.utf8))
    }

    private func command(_ arguments: [String]) -> [String] {
        [
            "env", "-u", "http_proxy", "-u", "https_proxy", "-u", "all_proxy", "LC_ALL=C.UTF-8",
            BuiltProgram.reach,
        ] + arguments
    }

    @Test("UPL-090 status asks over each uplink once, at the same time, and tells each one's state")
    func status() async throws {
        let paths = try await TwoPaths()
        let end = try await paths.lab.near.reactor.run(
            command(["status", "--probe", "\(paths.base)/quick", "--json"]))
        #expect(end.status == .exited(0))
        let report = try #require(Self.decoded(end.text))
        #expect(report.states == "a0 full, b0 full")
        #expect(report.internet == "full" && report.portal == nil)
        #expect(report.links.allSatisfy { $0.internetReason == "200 from \(paths.base)/quick" })
        #expect(report.links.allSatisfy { $0.internetSince?.hasSuffix("Z") == true })
        let requests = try await paths.requests(2)
        #expect(Set(requests.compactMap(\.peer)) == ["10.1.0.2", TwoPaths.secondAddress])
        // Without a probe nothing is known, and nothing is sent.
        let silent = try await paths.lab.near.reactor.run(command(["status", "--json"]))
        #expect(try #require(Self.decoded(silent.text)).states == "a0 null, b0 null")
        #expect(try await paths.events.count { $0.event == "request" } == 2)
    }

    @Test("UPL-091 the line behind the preferred router is dead: the sentence says so, and what works")
    func deadLine() async throws {
        let paths = try await TwoPaths()
        try await paths.killLine()
        async let text = paths.lab.near.reactor.run(command(["status", "--probe", "\(paths.base)/quick"]))
        async let json = paths.lab.near.reactor.run(
            command(["status", "--probe", "\(paths.base)/quick", "--json"]))
        let report = try #require(Self.decoded(try await json.text))
        #expect(report.states == "a0 limited, b0 full")
        #expect(report.internet == "limited")
        #expect(report.link("a0")?.internetReason == "no answer in 10 s")
        let words = try await text.text
        let sentence = "a0: the router 10.1.0.1 answers, the line behind it does not; b0 has internet"
        #expect(words.contains(sentence), "\(words)")
        #expect(words.contains("internet limited; in use"), "\(words)")
        #expect(words.contains("internet full; default route via 10.2.0.1"), "\(words)")
    }

    @Test("UPL-410 a server with a name is asked over each uplink by that one's name servers")
    func names() async throws {
        let paths = try await TwoPaths()
        guard let names = try await SoakNames.start(paths) else { return }
        defer { names.program.terminate() }
        try await paths.killLine()
        let end = try await paths.lab.near.reactor.run(
            command(["status", "--probe", "http://soak.test:8080/quick", "--json"]))
        let report = try #require(Self.decoded(end.text))
        #expect(report.states == "a0 limited, b0 full")
        #expect(try await paths.requests(1).map(\.peer) == [TwoPaths.secondAddress])
    }

    @Test("UPL-092 a router that does not answer is told as such")
    func deadRouter() async throws {
        let paths = try await TwoPaths()
        // Nothing answers for this address.
        try await paths.lab.near.ip("route replace default via 10.1.0.77 dev a0 metric 100")
        let end = try await paths.lab.near.reactor.run(command(["status", "--probe", "\(paths.base)/quick"]))
        #expect(
            end.text.contains("a0: the router 10.1.0.77 does not answer; b0 has internet"), "\(end.text)")
    }

    @Test("UPL-093 watch tells the internet of an uplink that comes beside the path in use")
    func watch() async throws {
        let paths = try await TwoPaths()
        try await paths.lab.near.ip("link set b0 down")
        let program = try await paths.lab.near.start(
            command(["watch", "--probe", "\(paths.base)/quick", "--json"]))
        #expect(
            await program.output.comes { $0.contains { Self.decoded($0)?.states == "a0 full, b0 none" } })
        // The path in use stays as it is: only the uplink is another.
        try await paths.lab.near.ip("link set b0 up")
        try await paths.lab.near.ip("route add default via 10.2.0.1 dev b0 metric 200")
        #expect(
            await program.output.comes { lines in
                lines.contains {
                    let report = Self.decoded($0)
                    return report?.event == "internet" && report?.states == "a0 full, b0 full"
                }
            })
        let requests = try await paths.requests(2)
        #expect(requests.last?.peer == TwoPaths.secondAddress)
        program.terminate()
        _ = try await program.status()
    }

    /// A service with two uplinks whose probe asks an origin beyond both routers.
    ///
    /// - Parameter file: where its configuration is written.
    private func probingService(_ file: String) async throws -> (lab: ServeLab, server: RunningProgram) {
        try "[probe]\nurl = \"http://10.0.0.1:8080/ok\"\nstatus = 204\n".write(
            toFile: file, atomically: true, encoding: .utf8)
        let network = try await NetworkLab(.f2)
        try await network.far.ip("addr add 10.0.0.1/32 dev lo")
        // Listens before the service asks for the first time: the second time is a while after a failure.
        let server = try await network.startOrigin()
        return (try await ServeLab(in: network, options: ["--config", file]), server)
    }

    @Test("UPL-450 status and watch beside a service: what it has found, and what it was told of costs")
    func besideService() async throws {
        let folder = try ScratchFolder("reach-beside")
        let file = folder("reach.toml")
        let (lab, server) = try await probingService(file)
        #expect(await lab.shows("a0 full, b0 full") { Self.decoded($0)?.states })
        let beside = ["env", "REACH_SOCKET=\(lab.socket)", BuiltProgram.reach]
        // It waits for the service for 100 ms only, which a loaded machine may take.
        func prints(_ arguments: String..., where holds: (String) -> Bool) async throws -> Bool {
            for _ in 0..<50 {
                let text = try await lab.lab.near.run(beside + arguments)
                if holds(text) { return true }
            }
            return false
        }
        #expect(
            try await prints("status", "--json") {
                let report = Self.decoded($0)
                return report?.states == "a0 full, b0 full"
                    && report?.link("b0")?.internetReason == "204 from http://10.0.0.1:8080/ok"
            })
        #expect(
            try await prints("status") {
                $0.contains("internet: full: the server answers (found by the service)")
            })
        // A hint for each, of which the command line contradicts one.
        for name in ["a0", "b0"] {
            _ = try await lab.ask("SetHint", #"{"interface":"\#(name)","metered":"yes","roaming":true}"#)
        }
        #expect(
            try await prints("status", "--json", "--metered", "a0=no") {
                $0.ranges(of: #""metered":"no","roaming":true"#).count == 2
                    && $0.ranges(of: #""metered":"yes","roaming":true"#).count == 1
            })
        #expect(
            try await prints("watch", "--json", "--count", "1") {
                $0.contains(#""expensive":true"#)
                    && $0.ranges(of: #""metered":"yes","roaming":true"#).count == 3
            })
        server.terminate()
        #expect(try await lab.stop() == .exited(0))
    }

    @Test("UPL-457 watch tells what a service finds, also of one that starts later, and of its successor")
    func besideLaterService() async throws {
        let folder = try ScratchFolder("reach-later")
        let file = folder("reach.toml")
        let (lab, server) = try await probingService(file)
        let run = lab.lab.near
        func watch(_ socket: String, _ arguments: String...) async throws -> RunningProgram {
            try await run.start(["env", "REACH_SOCKET=\(socket)", BuiltProgram.reach, "watch"] + arguments)
        }
        let (json, text) = (try await watch(lab.socket, "--json"), try await watch(lab.socket))
        // Neither the socket nor its folder is there yet.
        let socket = folder("later/reach.varlink")
        let early = try await watch(socket, "--json")
        #expect(await early.output.comes { !$0.isEmpty })
        let service = try await run.start([
            BuiltProgram.reach, "serve", "--config", file, "--socket", socket, "--state-directory",
            folder("state"),
        ])
        for program in [json, early] {
            #expect(await program.output.comes { Self.decoded($0.last ?? "")?.states == "a0 full, b0 full" })
        }
        #expect(
            await text.output.comes {
                $0.contains { $0.contains("internet full") || $0.contains("internet: full") }
            })
        // The service ends, and its successor finds something else.
        server.terminate()
        _ = try await server.status()
        lab.service.terminate()
        _ = try await lab.service.status()
        let successor = try await run.start(lab.command)
        #expect(
            await json.output.comes {
                let report = Self.decoded($0.last ?? "")
                return report?.event == "internet" && report?.internet == "limited"
            })
        #expect(await text.output.comes { $0.contains { $0.contains("internet limited") } })
        for program in [json, text, early, service, successor] {
            program.terminate()
            _ = try await program.status()
        }
        try await lab.remove()
    }

    @Test("UPL-513 watch finds a service that starts later where no inotify instance is left")
    func withoutInotify() async throws {
        let folder = try ScratchFolder("reach-unwatched")
        let (lab, server) = try await probingService(folder("reach.toml"))
        let run = lab.lab.near
        let socket = folder("later/reach.varlink")
        let script = #"echo 0 >/proc/sys/user/max_inotify_instances; exec "$@""#
        let watch = try await run.start([
            "unshare", "--user", "--map-root-user", "/bin/sh", "-ec", script, "sh",
            "env", "REACH_SOCKET=\(socket)", BuiltProgram.reach, "watch", "--json",
        ])
        #expect(await watch.output.comes { !$0.isEmpty }, "\(watch.standardError)")
        let service = try await run.start([
            BuiltProgram.reach, "serve", "--config", folder("reach.toml"), "--socket", socket,
            "--state-directory", folder("state"),
        ])
        #expect(
            await watch.output.comes { Self.decoded($0.last ?? "")?.states == "a0 full, b0 full" },
            "\(watch.standardError)")
        for program in [watch, service, server] {
            program.terminate()
            _ = try await program.status()
        }
        #expect(try await lab.stop() == .exited(0))
    }

    @Test("UPL-094 the service tells each uplink: GetStatus, Monitor, status.json, metrics, hooks, the log")
    func service() async throws {
        let folder = try ScratchFolder("reach-uplinks")
        let (file, hooks) = (folder("reach.toml"), folder("hooks"))
        let (reported, prom) = (folder("told"), folder("reach.prom"))
        try FileManager.default.createDirectory(atPath: hooks, withIntermediateDirectories: true)
        let script = """
            #!/bin/sh
            [ "$1" = internet ] && echo "$1 $2 $REACH_UPLINK $REACH_UPLINK_INTERNET $REACH_INTERNET $REACH_UPLINKS" >>\(reported)
            true

            """
        try script.write(toFile: hooks + "/10-told", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: hooks + "/10-told")
        for path in [folder.path, hooks] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        try "[hooks]\ndirectory = \"\(hooks)\"\n[metrics]\nfile = \"\(prom)\"\n".write(
            toFile: file, atomically: true, encoding: .utf8)
        let lab = try await ServeLab(.f2, options: ["--config", file])
        try await lab.lab.far.ip("addr add 10.0.0.1/32 dev lo")
        let server = try await lab.lab.startOrigin()
        let watch = try await lab.lab.near.start([
            "/usr/bin/python3", "-u", "-c", ServeLab.watching, lab.socket,
        ])
        _ = await watch.output.comes { !$0.isEmpty }
        // Only b0's line lets nothing through.
        try await lab.lab.far.run(
            "nft",
            "add table ip dead; add chain ip dead i { type filter hook input priority 0; }; "
                + "add rule ip dead i iifname pb ip daddr 10.0.0.1 reject")
        try """
        [probe]
        url = "http://10.0.0.1:8080/ok"
        status = 204
        [hooks]
        directory = "\(hooks)"
        [metrics]
        file = "\(prom)"

        """.write(toFile: file, atomically: true, encoding: .utf8)
        lab.service.terminate(signal: SIGHUP)
        #expect(await lab.shows("a0 full, b0 limited") { Self.decoded($0)?.states })
        let reply = try #require(Self.decoded(try await lab.ask("GetStatus")))
        #expect(reply.link("a0")?.internetReason == "204 from http://10.0.0.1:8080/ok")
        #expect(reply.link("b0")?.internetReason?.isEmpty == false)
        // Each is written by another thread.
        func comes(_ path: String, _ words: String) async throws -> Bool {
            for _ in 0..<1_000 {
                let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
                if text.contains(words) { return true }
                try await lab.lab.near.run("true")
            }
            return false
        }
        #expect(
            try await comes(lab.folder + "/run/status.json", #""internet":"limited","internetSince":"20"#))
        #expect(try await comes(prom, #"reach_uplink_internet{interface="b0",state="limited"} 1"#))
        #expect(try await comes(prom, #"reach_uplink_internet{interface="a0",state="full"} 1"#))
        #expect(try await comes(prom, #"reach_internet{state="full"} 1"#))
        #expect(try await comes(reported, "a0=full b0=limited"))
        #expect(lab.service.standardError.contains("internet on b0 limited: "))
        #expect(lab.service.standardError.contains("internet full: the server answers"))
        // The way back is an event of Monitor although the path's internet stays as it is.
        let events = watch.output.elements.count
        try await lab.lab.far.run("nft", "delete table ip dead")
        #expect(await lab.shows("a0 full, b0 full") { Self.decoded($0)?.states })
        #expect(await watch.output.comes { $0.count > events && $0.last == "internet full" })
        #expect(try await comes(reported, "internet b0 b0 full full a0=full b0=full"))
        watch.terminate()
        server.terminate()
        #expect(try await lab.stop() == .exited(0))
    }
}

extension ServeLab {
    /// Repeats the query until its answer says this.
    fileprivate func shows(_ wanted: String, _ reading: (String) -> String?) async -> Bool {
        for _ in 0..<2_000 {
            if let reply = try? await ask("GetStatus"), reading(reply) == wanted { return true }
        }
        return false
    }
}
