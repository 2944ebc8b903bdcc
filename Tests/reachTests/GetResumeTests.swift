// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import reach

/// `reach get` where something goes wrong on the way: what is kept, what is gone on with, what is refused.
@Suite("The program: get, cut off", .timeLimit(.minutes(10)))
struct GetResumeTests {
    private func sum(_ bytes: [UInt8], _ lab: GetLab) async throws -> String {
        String(try await lab.origin.run(["sha256sum"], input: bytes).text.prefix(64))
    }

    @Test("what was cut off is kept, and a new process goes on from there")
    func resumed() async throws {
        let lab = try await GetLab()
        let url = lab.origin.faultURL("/fault/cut?n=100000&after=43000&kind=close&times=1&key=get-cut")
        let whole = OriginContent.bytes(0..<100_000)
        let cut = try await lab.get(url, "-o", "file")
        #expect(cut.code == 6)
        #expect(
            cut.errors.hasSuffix("; 43.0 kB of 100.0 kB kept in file.part, --resume goes on from there\n"))
        #expect(lab.names == ["file.part", "file.part.resume"])
        let rest = try await lab.get(url, "-o", "file", "--resume", "--sha256", sum(whole, lab))
        #expect(rest.code == 0, "\(rest.errors)")
        #expect(rest.errors.hasPrefix("57.0 kB from 127.0.0.1 in "))
        #expect(rest.errors.hasSuffix(", saved as file, checksum right (resumed at 43 %)\n"))
        #expect(lab.content("file") == whole)
        #expect(lab.names == ["file"])
        // Complete and right: nothing is asked of the server any more.
        let again = try await lab.get(url, "-o", "file", "--resume", "--sha256", sum(whole, lab))
        #expect(again.code == 0)
        #expect(again.errors == "file is complete already, and its checksum is right\n")
        #expect(try await lab.origin.count("get-cut") == 2)
    }

    @Test("the record is for this user alone: a URL may hold a password or a signature")
    func recordRights() async throws {
        let lab = try await GetLab()
        let url = lab.origin.faultURL("/fault/cut?n=100000&after=43000&kind=close&times=1&key=get-rights")
            .replacing("://", with: "://ann:s3cret@")
        #expect(try await lab.shell("umask 022; exec \"$@\"", [url, "-o", "file"]).code == 6)
        let modes = ["file.part", "file.part.resume"].map { name in
            var status = stat()
            return stat("\(lab.folder)/\(name)", &status) == 0 ? status.st_mode & 0o777 : 0
        }
        #expect(modes == [0o644, 0o600])
        let rest = try await lab.get(url, "-o", "file", "--resume")
        #expect(rest.errors.hasSuffix("(resumed at 43 %)\n"), "\(rest.errors)")
        #expect(lab.content("file") == OriginContent.bytes(0..<100_000))
    }

    @Test("a file that has changed on the server is fetched anew")
    func changed() async throws {
        let lab = try await GetLab()
        let url = lab.origin.faultURL(
            "/fault/cut?n=100000&after=43000&kind=close&times=1&change=1&key=get-new")
        #expect(try await lab.get(url, "-o", "file").code == 6)
        let rest = try await lab.get(url, "-o", "file", "--resume")
        #expect(rest.code == 0)
        #expect(!rest.errors.contains("resumed"))
        #expect(lab.content("file") == OriginContent.bytes(0..<100_000, version: 2))
    }

    @Test("the record of another URL is not used")
    func otherURL() async throws {
        let lab = try await GetLab()
        let url = lab.origin.faultURL("/fault/cut?n=100000&after=43000&kind=close&key=get-other")
        #expect(try await lab.get(url, "-o", "file").code == 6)
        let other = try await lab.get(lab.origin.url("/range/50000"), "-o", "file", "--resume")
        #expect(other.code == 0)
        #expect(lab.content("file") == OriginContent.bytes(0..<50_000))
        #expect(lab.names == ["file"])
    }

    @Test("a wrong checksum is 8: nothing is left, the old file is intact, nothing reaches standard output")
    func checksum() async throws {
        let lab = try await GetLab()
        try lab.write([1, 2, 3], "file")
        let wrong = String(repeating: "0", count: 64)
        let end = try await lab.get(lab.origin.url("/range/1000"), "-o", "file", "--sha256", wrong)
        #expect(end.code == 8)
        #expect(end.errors.contains("instead of \(wrong)") && end.errors.contains("nothing was saved"))
        #expect(lab.content("file") == [1, 2, 3])
        #expect(lab.names == ["file"])
        let piped = try await lab.get(lab.origin.url("/range/1000"), "--sha256", wrong)
        #expect(piped.code == 8 && piped.output.isEmpty)
        let bytes = OriginContent.bytes(0..<1000)
        let right = try await lab.get(
            lab.origin.url("/range/1000"), "--sha256", sum(bytes, lab).uppercased())
        #expect(right.code == 0 && right.output == bytes)
    }

    @Test("what another URL has left is left alone, and not offered to be gone on with")
    func foreignPart() async throws {
        let lab = try await GetLab()
        let cut = lab.origin.faultURL("/fault/cut?n=100000&after=43000&kind=close&times=1&key=get-foreign")
        #expect(try await lab.get(cut, "-o", "file").code == 6)
        let end = try await lab.get(lab.origin.url("/json-status/404"), "-o", "file")
        #expect(end.code == 4 && !end.errors.contains("kept"), "\(end.errors)")
        #expect(lab.names == ["file.part", "file.part.resume"])
        // The first one's is still told: how much there is of it, and not of what the server answers now.
        let late = try await lab.get(cut, "-o", "file", "-m", "0.000001")
        #expect(late.code == 2, "\(late.errors)")
        #expect(
            late.errors.hasSuffix("; 43.0 kB of 100.0 kB kept in file.part, --resume goes on from there\n"))
    }

    @Test("401 is a refusal: no file, and what the server says")
    func unauthorized() async throws {
        let lab = try await GetLab()
        let end = try await lab.get(lab.origin.url("/basic-auth/u/p"), "-o", "file")
        #expect(end.code == 4 && end.errors.hasPrefix("reach: 401 unauthorized"), "\(end.errors)")
        #expect(lab.names.isEmpty)
    }

    @Test("130 on SIGINT: what has come is kept with its record, and gone on with")
    func interrupted() async throws {
        let lab = try await GetLab()
        let url = lab.origin.faultURL("/fault/stall?n=100000&after=60000&times=1&key=get-int")
        // The first line of progress tells that content has come.
        let end = try await lab.shell(
            """
            mkfifo said; "$@" 2>said & job=$!; exec 3<said; read line <&3; kill -INT $job; cat <&3 >&2; wait $job
            """, [url, "-o", "file", "--progress", "plain"])
        #expect(end.code == 130)
        #expect(end.errors.hasPrefix("reach: interrupted; "))
        #expect(end.errors.hasSuffix(" of 100.0 kB kept in file.part, --resume goes on from there\n"))
        #expect(lab.names == ["file.part", "file.part.resume", "said"])
        let rest = try await lab.get(url, "-o", "file", "--resume")
        #expect(rest.code == 0, "\(rest.errors)")
        #expect(rest.errors.contains("(resumed at "))
        #expect(lab.content("file") == OriginContent.bytes(0..<100_000))
    }

    @Test("a killed process leaves what the next one goes on with")
    func killed() async throws {
        let lab = try await GetLab()
        let url = lab.origin.faultURL("/fault/stall?n=100000&after=60000&times=1&key=get-kill")
        _ = try await lab.shell(
            "mkfifo said; \"$@\" 2>said & job=$!; exec 3<said; read line <&3; kill -KILL $job; wait $job; true",
            [url, "-o", "file", "--progress", "plain"])
        #expect(lab.names == ["file.part", "file.part.resume", "said"])
        let rest = try await lab.get(url, "-o", "file", "--resume")
        #expect(rest.code == 0 && rest.errors.contains("(resumed at "), "\(rest.errors)")
        #expect(lab.content("file") == OriginContent.bytes(0..<100_000))
    }

    @Test("two at once for one file: the second is refused with 74")
    func twice() async throws {
        let lab = try await GetLab()
        let url = lab.origin.faultURL("/fault/stall?n=100000&after=60000&times=1&key=get-twice")
        let end = try await lab.shell(
            """
            mkfifo said; "$@" 2>said & job=$!; exec 3<said; read line <&3
            "$@"; code=$?; kill -INT $job; wait $job; exit $code
            """, [url, "-o", "file", "--progress", "plain"])
        #expect(end.code == 74)
        #expect(end.errors.contains("file is being fetched by another process"))
    }

    @Test("a full disk is 74 and leaves the old file alone")
    func fullDisk() async throws {
        let lab = try await GetLab()
        try lab.write([1, 2, 3], "file")
        // A limit of the file size stands in for the disk (RLIMIT_FSIZE, in blocks of 512 bytes); Linux then says EFBIG.
        // The thread sanitizer keeps a file for itself and dies where it may not, so it gets no folder for it.
        let end = try await lab.shell(
            "trap '' XFSZ; ulimit -f 100; TMPDIR=/dev/null exec \"$@\"",
            [lab.origin.url("/bytes/1000000"), "-o", "file"])
        #expect(end.code == 74, "\(end.errors)")
        #expect(end.errors.contains("cannot write file.part"))
        #expect(lab.content("file") == [1, 2, 3])
        let full = try await lab.shell("exec \"$@\" >/dev/full", [lab.origin.url("/bytes/10")])
        #expect(full.code == 74)
        #expect(full.errors.contains("No space left on device"))
        let left = try await lab.shell("\"$@\" | head -c 10", [lab.origin.url("/bytes/5000000"), "-q"])
        #expect(left.output.count == 10 && left.errors.isEmpty)
    }

    @Test("on a terminal a bar, and nothing of it is left; in a pipe nothing; plain lines when asked for")
    func progress() async throws {
        let lab = try await GetLab()
        let url = lab.origin.url("/drip?n=8&size=1000&ms=150&chunked=0")
        let piped = try await lab.get(url, "-o", "file")
        #expect(piped.errors.split(separator: "\n").count == 1)
        let plain = try await lab.get(url, "-o", "file", "--progress", "plain")
        let lines = plain.errors.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.contains(" %, ") == true && lines.first?.contains(" of 8.0 kB, ") == true)
        // script(1) gives the program a terminal.
        let shown = try await lab.shell(
            "reach=$1; url=$3; TERM=xterm script -qec \"$reach get '$url' -o file\" /dev/null </dev/null",
            [url])
        #expect(shown.code == 0)
        #expect(shown.text.contains("━") && shown.text.contains(" of 8.0 kB"))
        let end = shown.text.split(separator: "\r").last ?? ""
        #expect(end.hasPrefix("\u{1B}[K8.0 kB from 127.0.0.1 in "))
        // What only prints gets lines, and nothing that steers it.
        let dumb = try await lab.shell(
            "reach=$1; url=$3; TERM=dumb script -qec \"$reach get '$url' -o file\" /dev/null </dev/null",
            [url])
        #expect(dumb.code == 0)
        let said = dumb.text.replacing("\r\n", with: "\n").split(separator: "\n")
        #expect(said.count == 2, "\(said)")
        #expect(said.first?.contains(" %, ") == true && said.last?.contains(" from 127.0.0.1 in ") == true)
        #expect(!dumb.text.contains("\u{1B}") && !dumb.text.replacing("\r\n", with: "").contains("\r"))
    }

    @Test("watch and status do not load libcurl")
    func weight() async throws {
        let lab = try await GetLab()
        let end = try await lab.shell(
            """
            mkfifo said; "$1" watch --host 127.0.0.1 >said & job=$!; exec 3<said; read line <&3
            cat /proc/$job/maps; kill $job; wait $job
            """, [])
        #expect(end.code == 0)
        #expect(end.text.contains("libnl-route-3") && end.text.contains("/reach"))
        #expect(!end.text.contains("libcurl") && !end.text.contains("libssl"))
    }
}
