// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// `reach get --unix-socket`.
@Suite("The program: get, sockets of this machine", .timeLimit(.minutes(10)))
struct GetSocketTests {
    private static let server =
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Origin/local"

    /// Runs a line of a shell beside servers of these sockets, with a proxy in the environment.
    private func shell(
        _ lab: GetLab, serving sockets: [String], _ line: String = "\"$@\"", _ arguments: String...
    ) async throws -> GetLab.Result {
        let names = sockets.joined(separator: " ")
        return try await lab.shell(
            """
            mkfifo ready; /usr/bin/python3 -B '\(Self.server)' \(names) >ready & server=$!
            trap 'kill $server; rm -f ready *.sock' EXIT; read line <ready
            export http_proxy=http://127.0.0.1:9 all_proxy=socks5h://127.0.0.1:9; \(line)
            """, arguments)
    }

    @Test("API-483 --unix-socket: a path, one in the current folder, or an abstract name; past every proxy")
    func sockets() async throws {
        let lab = try await GetLab()
        let abstract = "@\(UUID())"
        for name in ["\(lab.folder)/a.sock", "a.sock", abstract] {
            let end = try await shell(
                lab, serving: [name], "\"$@\"", "--unix-socket", name, "http://docker:81/echo?a=%2F")
            let socket = name == "a.sock" ? "\(lab.folder)/a.sock" : name
            #expect(end.code == 0, "\(end.errors)")
            // The server says by which name it was started.
            for part in ["\"\(name)\"", "\"host\": \"docker:81\"", "\"/echo?a=%2F\""] {
                #expect(end.text.contains(part), "\(socket): \(end.text)")
            }
        }
        let end = try await shell(
            lab, serving: ["b.sock"], "\"$@\" -O && \"$@\" http://localhost/cookie -o first -o second --json",
            "--unix-socket", "b.sock", "http://localhost/echo")
        #expect(end.code == 0 && lab.content("echo") != nil && lab.content("second") != nil, "\(end.errors)")
        #expect(end.text.split(separator: "\n").count == 2, "\(end.text)")
    }

    @Test("API-484 --unix-socket: redirects stay on the socket")
    func redirects() async throws {
        let lab = try await GetLab()
        let end = try await shell(
            lab, serving: ["a.sock"], "\"$@\"/moved?to=/echo && \"$@\"/moved?to=http://other.test/",
            "--unix-socket", "a.sock", "http://localhost")
        #expect(end.code == 5 && end.text.contains("\"/echo\""), "\(end)")
        #expect(end.errors.contains("other.test"), "\(end.errors)")
    }

    @Test("API-485 --unix-socket: no file, no socket and no listener are told as that")
    func failures() async throws {
        let lab = try await GetLab()
        try lab.write([], "file")
        let bind = "import socket; socket.socket(socket.AF_UNIX).bind(\"left\")"
        for (name, start, advice) in [
            ("none", "there is no socket \(lab.folder)/none (", "; start its service"),
            ("file", "\(lab.folder)/file is no socket (", "; check the path"),
            ("left", "no process listens on \(lab.folder)/left (", "; start its service"),
        ] {
            let end = try await lab.shell(
                "/usr/bin/python3 -c '\(bind)'; exec \"$@\"",
                ["--unix-socket", name, "http://localhost/"])
            #expect(end.code == 6 && end.errors.contains(advice), "\(end.errors)")
            #expect(end.errors.hasPrefix("reach: \(start)"), "\(end.errors)")
            unlink("\(lab.folder)/left")
        }
    }

    @Test(
        "API-486 --unix-socket: what cannot be meant is wrong usage",
        arguments: [
            (["--unix-socket", "/" + String(repeating: "x", count: 107)], "at most 107 bytes, this one 108"),
            (["--unix-socket", ""], "give the path of a socket"),
            (["--unix-socket", "@"], "the name of an abstract one"),
            (["--unix-socket", "/s", "-x", "http://proxy:3128"], "leave out -x"),
            (["--unix-socket", "/s", "--via", "wifi"], "leave out --via"),
            (["--unix-socket", "/s", "--network", "notExpensive"], "leave out --via and --network"),
            (
                ["http+unix://%2Frun%2Fsnapd.socket/v2/apps"],
                "write --unix-socket /run/snapd.socket http://localhost/v2/apps"
            ),
        ])
    func usage(_ arguments: [String], _ sentence: String) async throws {
        let lab = try await GetLab()
        let end = try await lab.shell("exec \"$@\"", ["http://localhost/"] + arguments)
        #expect(end.code == 64 && end.errors.contains(sentence), "\(end.errors)")
    }
}
