// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import reach

/// `reach get` with several URLs.
@Suite("The program: get, several URLs", .timeLimit(.minutes(10)))
struct GetManyTests {
    private func lines(_ text: String) -> [Substring] { text.split(separator: "\n") }

    private func sum(_ bytes: [UInt8], _ lab: GetLab) async throws -> String {
        String(try await lab.origin.run(["sha256sum"], input: bytes).text.prefix(64))
    }

    @Test("API-546 several URLs are saved under their names, with a line for each, and one for all")
    func several() async throws {
        let lab = try await GetLab()
        let urls = [10, 20_000, 300_000, 5].map { lab.origin.url("/bytes/\($0)") }
        let end = try await lab.shell("exec \"$@\"", urls + ["-O"])
        #expect(end.code == 0 && end.output.isEmpty, "\(end.errors)")
        #expect(lab.names == ["10", "20000", "300000", "5"])
        #expect(lab.content("300000") == OriginContent.bytes(0..<300_000))
        #expect(lines(end.errors).count == 5 && lines(end.errors).last == "4 of 4 fetched", "\(end.errors)")
        for name in lab.names { #expect(end.errors.contains(", saved as \(name)\n")) }

        mkdir("\(lab.folder)/images", 0o755)
        let json = try await lab.shell(
            "exec \"$@\"", urls.prefix(2) + ["--output-dir", "images", "--json", "-j", "2"])
        #expect(json.code == 0 && json.errors.isEmpty, "\(json.errors)")
        let objects = lines(json.text)
        #expect(objects.count == 2 && objects.allSatisfy { $0.hasPrefix(#"{"schema":1,"ok":true,"#) })
        for url in urls.prefix(2) { #expect(json.text.contains(#""requested":"\#(url)"}"#), "\(json.text)") }
        #expect(lab.content("images/20000")?.count == 20_000)
        let missing = try await lab.get(urls[0], "--output-dir", "none")
        #expect(missing.code == 74 && missing.errors == "reach: none is no folder; make it first\n")
    }

    @Test("API-547 one that fails does not end the others, unless it is to; the first in their order is told")
    func failures() async throws {
        let lab = try await GetLab()
        func status(_ status: Int) -> String { lab.origin.url("/status/\(status)") }
        let end = try await lab.get(
            lab.origin.url("/bytes/10"), status(503), status(404), lab.origin.url("/bytes/20"), "-O", "-j",
            "1")
        #expect(end.code == 5 && lab.names == ["10", "20"], "\(end.errors)")
        #expect(lines(end.errors).count == 5 && lines(end.errors).last == "2 of 4 fetched", "\(end.errors)")
        let quiet = try await lab.get(status(404), status(503), lab.origin.url("/bytes/10"), "-O", "-q")
        #expect(quiet.code == 4 && lines(quiet.errors).count == 2, "\(quiet.errors)")

        // The one that stands still is ended, and the last never begins.
        let stalled = lab.origin.faultURL("/fault/stall?n=100000&after=60000&key=api-547")
        let early = try await lab.get(
            stalled, status(404), lab.origin.url("/bytes/30"), "-o", "stalled", "-o", "refused", "-o", "late",
            "-j", "2", "--fail-early", "--json")
        #expect(early.code == 4 && lab.content("late") == nil, "\(early.text)")
        #expect(lines(early.text).filter { $0.contains(#""exit":130,"#) }.count == 2, "\(early.text)")
        #expect(lab.names.filter { !$0.hasPrefix("stalled.part") } == ["10", "20"])
    }

    @Test("API-548 -o and URLs are paired in their order; what goes to standard output is in order")
    func pairs() async throws {
        let lab = try await GetLab()
        let (one, two, three) = (
            lab.origin.url("/bytes/200000"), lab.origin.url("/bytes/2"), lab.origin.url("/bytes/30")
        )
        let paired = try await lab.get(one, two, three, "-o", "first", "-O", "-o", "second")
        #expect(paired.code == 0 && lab.names == ["30", "first", "second"], "\(paired.errors)")
        #expect(lab.content("first")?.count == 200_000 && lab.content("second")?.count == 2)
        let rest = try await lab.get(one, two, three, "-o", "-", "-o", "file")
        #expect(rest.output == OriginContent.bytes(0..<200_000) + OriginContent.bytes(0..<30))
        #expect(rest.code == 0 && lab.content("file")?.count == 2, "\(rest.errors)")
        let json = try await lab.get(one, two, three, "-o", "-", "-o", "file", "--json")
        #expect(json.output.count == 200_030 && lines(json.errors).count == 3, "\(json.errors)")
    }

    @Test("API-549 two that would be saved as one file are refused before anything is sent")
    func sameName() async throws {
        let lab = try await GetLab()
        let url = lab.origin.url("/bytes/10?key=api-549")
        mkdir("\(lab.folder)/sub", 0o755)
        for names in [["-O"], ["-o", "a", "-o", "./sub/../a"], ["-o", "a", "-o", "a.part"]] {
            let end = try await lab.shell("exec \"$@\"", [url, url] + names)
            #expect(end.code == 64 && end.errors.contains("two URLs would be saved as "), "\(end.errors)")
        }
        #expect(try await lab.origin.count("api-549") == 0 && lab.names == ["sub"])
        let device = try await lab.get(url, url, "-o", "/dev/null", "-o", "/dev/null")
        #expect(device.code == 0, "\(device.errors)")
    }

    @Test(
        "API-550 what cannot be meant is wrong usage",
        arguments: [
            ["http://a/1", "-o", "a", "-o", "b"], ["http://a/1", "http://a/2", "-O", "-o", "a", "-o", "b"],
            ["http://a/1", "http://a/2", "-j", "2"], ["http://a/1", "http://a/2", "-o", "a", "--resume"],
            ["http://a/1", "http://a/2", "-O", "--sha256", String(repeating: "0", count: 64)],
            ["http://a/1", "http://a/", "-O"], ["http://a/1", "-O", "-j", "0"],
            ["http://a/1", "-O", "-j", "101"],
            ["http://a/1", "-O", "--mirror", "http://b/1"], ["http://a/1", "-i", ""],
            ["http://a/1", "-i", "-", "-O", "-d", "@-"],
            ["http://a/1", "https://a/2", "-O", "--pin", "sha256//x"],
            [
                "http://a/1", "-O", "-d", "x", "--mirror", "http://b/1", "--sha256",
                String(repeating: "0", count: 64),
            ],
        ])
    func usage(_ arguments: [String]) async throws {
        let lab = try await GetLab()
        let end = try await lab.shell("exec \"$@\"", arguments)
        #expect(end.code == 64 && end.output.isEmpty && !end.errors.isEmpty, "\(end)")
    }

    @Test("API-551 SIGINT keeps all parts, and the same command goes on and leaves what is finished")
    func interrupted() async throws {
        let lab = try await GetLab()
        let stalled = ["a", "b"].map {
            lab.origin.faultURL("/fault/stall?n=100000&after=60000&times=1&key=api-551-\($0)")
        }
        let whole = lab.origin.url("/bytes/10?key=api-551-c")
        let arguments =
            [whole] + stalled + [
                lab.origin.url("/bytes/20"), "-o", "c", "-o", "a", "-o", "b", "-o", "d", "-j", "2",
                "--resume",
            ]
        // Both stand still once the first file is there and has been told.
        let end = try await lab.shell(
            """
            mkfifo said; "$@" 2>said & job=$!; exec 3<said; read line <&3
            until [ -s a.part ] && [ -s b.part ]; do sleep 0.05; done; kill -INT $job; cat <&3 >&2; wait $job
            """, arguments)
        #expect(end.code == 130, "\(end.errors)")
        #expect(lines(end.errors).count == 3, "\(end.errors)")
        #expect(
            end.errors.hasSuffix("1 of 4 fetched; the same command with --resume goes on\n"), "\(end.errors)")
        for name in ["a", "b"] {
            #expect(
                end.errors.contains(" kept in \(name).part, --resume goes on from there\n"), "\(end.errors)")
        }
        #expect(lines(end.errors).count { $0.hasPrefix("reach: interrupted (http") } == 2, "\(end.errors)")
        #expect(lab.names == ["a.part", "a.part.resume", "b.part", "b.part.resume", "c", "said"])
        let rest = try await lab.shell("exec \"$@\"", arguments)
        #expect(rest.code == 0 && rest.errors.contains("c is there already\n"), "\(rest.errors)")
        #expect(lab.names == ["a", "b", "c", "d", "said"])
        #expect(lab.content("b") == OriginContent.bytes(0..<100_000))
        #expect(try await lab.origin.count("api-551-c") == 1)
    }

    @Test("API-554 the URLs of a file or of standard input are fetched too, under the names that it says")
    func list() async throws {
        let lab = try await GetLab()
        let sum = try await sum(OriginContent.bytes(0..<20), lab)
        let list = """
            # two files
            \(lab.origin.url("/bytes/10"))\r
            \(lab.origin.url("/bytes/20")) out=second sha256=\(sum)
            """
        try lab.write(Array(list.utf8), "list")
        mkdir("\(lab.folder)/to", 0o755)
        let file = try await lab.get(lab.origin.url("/bytes/5"), "-i", "list", "--output-dir", "to")
        #expect(file.code == 0 && file.errors.hasSuffix("3 of 3 fetched\n"), "\(file.errors)")
        #expect(lab.content("to/second")?.count == 20 && lab.content("to/10")?.count == 10)
        #expect(lab.content("to/5")?.count == 5)
        let input = try await lab.get("-i", "-", input: Array(list.utf8))
        #expect(input.code == 0 && lab.names == ["10", "list", "second", "to"], "\(input.errors)")

        let wrong = lab.origin.url("/bytes/30?key=api-554") + "\nnonsense\n"
        let refused = try await lab.get("-i", "-", input: Array(wrong.utf8))
        #expect(
            refused.code == 64 && refused.errors.hasPrefix("reach: standard input:2: nonsense: "),
            "\(refused)")
        #expect(try await lab.origin.count("api-554") == 0)
        let missing = try await lab.get("-i", "none")
        #expect(missing.code == 64 && missing.errors.contains("none: "), "\(missing)")
        let empty = try await lab.get("-i", "/dev/null")
        #expect(empty.code == 0 && empty.errors.isEmpty, "\(empty)")
    }

    @Test(
        "API-555 a list that is fetched again asks for nothing that is there, but for what a checksum refuses"
    )
    func again() async throws {
        let lab = try await GetLab()
        let right = try await sum(OriginContent.bytes(0..<20), lab)
        let list = """
            \(lab.origin.url("/bytes/10?key=api-555-a")) out=a
            \(lab.origin.url("/bytes/20?key=api-555-b")) out=b sha256=\(right)
            """
        try lab.write(Array("old".utf8), "b")
        try lab.write(Array("kept".utf8), "a")
        let end = try await lab.get("-i", "-", "-c", input: Array(list.utf8))
        #expect(end.code == 0 && lab.content("a") == Array("kept".utf8), "\(end.errors)")
        #expect(lab.content("b") == OriginContent.bytes(0..<20))
        let again = try await lab.get("-i", "-", "-c", input: Array(list.utf8))
        #expect(
            again.errors.contains("b is complete already, and its checksum is right\n"), "\(again.errors)")
        #expect(try await lab.origin.count("api-555-a") == 0)
        #expect(try await lab.origin.count("api-555-b") == 1)
    }

    @Test("API-556 --mirror: the content comes from whichever has it, its parts from several")
    func mirrors() async throws {
        let lab = try await GetLab()
        let whole = OriginContent.bytes(0..<100_000)
        let sum = try await sum(whole, lab)
        let cut = lab.origin.faultURL("/fault/cut?n=100000&after=20000&kind=close&key=api-556-a")
        let mirror = lab.origin.url("/range/100000?key=api-556-b")
        let end = try await lab.get(
            lab.origin.url("/status/404"), "--mirror", "http://127.0.0.1:9/none", "--mirror", cut, "--mirror",
            mirror, "-o", "file", "--sha256", sum, "--progress", "plain", "--json")
        #expect(end.code == 0 && lab.content("file") == whole, "\(end.errors)")
        #expect(
            end.text.contains(#""url":"\#(mirror)""#) && end.text.contains(#""sha256":"\#(sum)""#),
            "\(end.text)")
        #expect(end.errors.contains("; 127.0.0.1 is asked"), "\(end.errors)")
        #expect(lab.names == ["file"])
        let lying = try await lab.get(
            lab.origin.url("/bytes/99999"), "--mirror", lab.origin.url("/bytes/99998"), "-o", "file",
            "--sha256", sum)
        #expect(lying.code == 8 && lab.content("file") == whole && lab.names == ["file"], "\(lying.errors)")
        let output = try await lab.get(
            lab.origin.url("/bytes/99999"), "--mirror", mirror, "--sha256", sum)
        #expect(output.code == 0 && output.output == whole, "\(output.errors)")
    }

    @Test("API-557 a part that a mirror has given is kept by an interruption, and goes on at any of them")
    func mirrorResumed() async throws {
        let lab = try await GetLab()
        let whole = OriginContent.bytes(0..<100_000)
        let sum = try await sum(whole, lab)
        let gone = lab.origin.url("/status/404")
        let stalled = lab.origin.faultURL("/fault/stall?n=100000&after=60000&times=1&key=api-557")
        let end = try await lab.shell(
            """
            mkfifo said; "$@" 2>said & job=$!; exec 3<said; until [ -s file.part ]; do sleep 0.05; done
            kill -INT $job; cat <&3 >&2; wait $job
            """, [gone, "--mirror", stalled, "-o", "file", "--sha256", sum])
        #expect(end.code == 130 && end.errors.contains("--resume goes on"), "\(end.errors)")
        let rest = try await lab.get(
            gone, "--mirror", lab.origin.url("/range/100000"), "-o", "file", "--sha256", sum, "--resume")
        #expect(rest.code == 0 && lab.content("file") == whole, "\(rest.errors)")
        #expect(rest.errors.contains("(resumed at "), "\(rest.errors)")
    }

    @Test("API-558 the progress of several is one line, with how many have ended")
    func progress() async throws {
        let lab = try await GetLab()
        let stalled = lab.origin.faultURL("/fault/stall?n=100000&after=60000&times=1&key=api-558")
        let end = try await lab.shell(
            """
            mkfifo said; "$@" 2>said & job=$!; exec 3<said; read first <&3; read second <&3
            kill -INT $job; cat <&3 >/dev/null; wait $job; echo "$first"; echo "$second"
            """, [lab.origin.url("/bytes/10"), stalled, "-o", "a", "-o", "b", "--progress", "plain"])
        let progress = lines(end.text).filter { $0.hasPrefix("0/2 ") || $0.hasPrefix("1/2 ") }
        #expect(!progress.isEmpty && progress.allSatisfy { $0.contains("B/s") }, "\(end.text)")
    }
}
