// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import reach

/// `reach get` with interrupted transfers: the stored part, its continuation, and refusals.
@Suite("The program: get, cut off", .timeLimit(.minutes(10)))
struct GetResumeTests {
    private func sum(_ bytes: [UInt8], _ lab: GetLab) async throws -> String {
        String(try await lab.origin.run(["sha256sum"], input: bytes).text.prefix(64))
    }

    @Test("a download that was cut off is stored, and a new process resumes it")
    func resumed() async throws {
        let lab = try await GetLab()
        let url = lab.origin.faultURL("/fault/cut?n=100000&after=43000&kind=close&times=1&key=get-cut")
        let whole = OriginContent.bytes(0..<100_000)
        let cut = try await lab.get(url, "-o", "file", "--retry", "0")
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
        // Complete and right: the server gets no further request.
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
        #expect(try await lab.shell("umask 022; exec \"$@\"", [url, "-o", "file", "--retry", "0"]).code == 6)
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
        #expect(try await lab.get(url, "-o", "file", "--retry", "0").code == 6)
        let rest = try await lab.get(url, "-o", "file", "--resume")
        #expect(rest.code == 0)
        #expect(!rest.errors.contains("resumed"))
        #expect(lab.content("file") == OriginContent.bytes(0..<100_000, version: 2))
    }

    @Test("the record of another URL is not used")
    func otherURL() async throws {
        let lab = try await GetLab()
        let url = lab.origin.faultURL("/fault/cut?n=100000&after=43000&kind=close&key=get-other")
        #expect(try await lab.get(url, "-o", "file", "--retry", "0").code == 6)
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

    @Test("another URL's part is left alone, and not offered for resuming")
    func foreignPart() async throws {
        let lab = try await GetLab()
        let cut = lab.origin.faultURL("/fault/cut?n=100000&after=43000&kind=close&times=1&key=get-foreign")
        #expect(try await lab.get(cut, "-o", "file", "--retry", "0").code == 6)
        let end = try await lab.get(lab.origin.url("/json-status/404"), "-o", "file")
        #expect(end.code == 4 && !end.errors.contains("kept"), "\(end.errors)")
        #expect(lab.names == ["file.part", "file.part.resume"])
        // The first part is still reported with its own size, and not with that of the server's present
        // answer.
        let late = try await lab.get(cut, "-o", "file", "-m", "0.000001")
        #expect(late.code == 2, "\(late.errors)")
        #expect(
            late.errors.hasSuffix("; 43.0 kB of 100.0 kB kept in file.part, --resume goes on from there\n"))
    }

    @Test("FLD-033 get resumes by itself if the rest can be requested, and says so")
    func resumes() async throws {
        let lab = try await GetLab()
        let whole = OriginContent.bytes(0..<100_000)
        let path = "/fault/cut?n=100000&after=30000&kind=rst&times=2"
        let file = try await lab.get(
            lab.origin.faultURL("\(path)&key=get-on-file"), "-o", "file", "--progress", "plain")
        #expect(file.code == 0, "\(file.errors)")
        #expect(
            file.errors.contains("; another try in ")
                && file.errors.hasSuffix("saved as file, after 2 more tries\n"))
        #expect(lab.content("file") == whole && lab.names == ["file"])
        #expect(try await lab.origin.count("get-on-file") == 3)
        let piped = try await lab.get(lab.origin.faultURL("\(path)&key=get-on-out"), "--json")
        #expect(piped.code == 0 && piped.output == whole, "\(piped.errors)")
        #expect(piped.errors.contains(",\"retries\":2,"), "\(piped.errors)")
        // Nothing proves that the rest belongs to it, and no retry is permitted.
        for (more, key) in [("&etag=0&lm=0", "get-on-bare"), ("", "get-on-never")] {
            let url = lab.origin.faultURL("\(path)\(more)&key=\(key)")
            let options = more.isEmpty ? ["--retry", "0"] : []
            #expect(try await lab.shell("exec \"$@\"", [url, "-o", "other"] + options).code == 6)
            #expect(try await lab.origin.count(key) == 1)
        }
    }

    @Test(
        "FLD-033 --retry also waits for a server that asks for it, and begins anew where nothing can be resumed",
        arguments: [
            ("/retry-after?times=1&status=429&after=0&key=", OriginListener.http),
            ("/retry-after?times=1&status=503&after=0&key=", .http),
            ("/fault/cut?n=100000&after=30000&kind=rst&times=1&etag=0&lm=0&key=", .direct),
        ])
    func retried(_ path: String, _ listener: OriginListener) async throws {
        let lab = try await GetLab()
        let key = "get-retry-\(path.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF })"
        let once = try await lab.get(lab.origin.url(path + key + "-once", at: listener), "-o", "once")
        #expect(once.code != 0)
        let end = try await lab.get(lab.origin.url(path + key, at: listener), "-o", "file", "--retry", "3")
        #expect(end.code == 0 && end.errors.hasSuffix("saved as file, after another try\n"), "\(end.errors)")
        #expect(try await lab.origin.count(key) == 2)
        guard listener == .http else { return }
        let piped = try await lab.get(lab.origin.url("\(path)\(key)-out", at: listener), "--retry", "3")
        #expect(piped.code == 0 && piped.errors.hasSuffix(", after another try\n"), "\(piped.errors)")
    }

    @Test("FLD-029 if --resume would start again, resuming is not announced; with --sha256 it is")
    func weak() async throws {
        let lab = try await GetLab()
        let whole = OriginContent.bytes(0..<100_000)
        for (kind, key) in [("&weak=1", "get-weak"), ("&etag=0&lm=0", "get-bare")] {
            let url = lab.origin.faultURL(
                "/fault/cut?n=100000&after=43000&kind=close&times=1\(kind)&key=\(key)")
            let sum = try await sum(whole, lab)
            let plain = try await lab.get(url + "-plain", "-o", "plain", "--retry", "0")
            #expect(
                plain.code == 6 && !plain.errors.contains("--resume goes on from there\n"), "\(plain.errors)")
            #expect(plain.errors.contains("only with --sha256") == (key == "get-weak"), "\(plain.errors)")
            let cut = try await lab.get(url, "-o", "file", "--retry", "0", "--sha256", sum)
            #expect(cut.code == 6 && cut.errors.hasSuffix(", --resume goes on from there\n"), "\(cut.errors)")
            let rest = try await lab.get(url, "-o", "file", "--resume", "--sha256", sum)
            #expect(rest.code == 0 && rest.errors.hasSuffix("(resumed at 43 %)\n"), "\(rest.errors)")
            #expect(lab.content("file") == whole)
            try FileManager.default.removeItem(atPath: "\(lab.folder)/file")
        }
    }

    @Test("FLD-029 a part of another version is noticed by its checksum, and all of it fetched")
    func weakAndChanged() async throws {
        let lab = try await GetLab()
        let url = lab.origin.faultURL(
            "/fault/cut?n=100000&after=43000&kind=close&times=1&etag=0&lm=0&change=1&key=get-other-version")
        let (old, new) = (
            try await sum(OriginContent.bytes(0..<100_000), lab),
            try await sum(OriginContent.bytes(0..<100_000, version: 3), lab)
        )
        #expect(try await lab.get(url, "-o", "file", "--retry", "0", "--sha256", old).code == 6)
        let end = try await lab.get(url, "-o", "file", "--resume", "--sha256", new)
        #expect(end.code == 0 && !end.errors.contains("resumed"), "\(end.errors)")
        #expect(lab.content("file") == OriginContent.bytes(0..<100_000, version: 3))
    }

    @Test("FLD-029 a URL that was signed again resumes with --sha256")
    func signedAnew() async throws {
        let lab = try await GetLab()
        let whole = OriginContent.bytes(0..<100_000)
        let url = lab.origin.faultURL("/fault/cut?n=100000&after=43000&kind=close&times=1&key=get-signed")
        #expect(try await lab.get(url + "&signature=1", "-o", "file", "--retry", "0").code == 6)
        let end = try await lab.get(
            url + "&signature=2", "-o", "file", "--resume", "--sha256", sum(whole, lab))
        #expect(end.code == 0 && end.errors.hasSuffix("(resumed at 43 %)\n"), "\(end.errors)")
        #expect(lab.content("file") == whole)
    }

    @Test("FLD-056 after a restart of the machine only the synced part is resumed")
    func otherStart() async throws {
        let lab = try await GetLab()
        let url = lab.origin.faultURL("/fault/cut?n=100000&after=43000&kind=close&times=1&key=get-boot")
        #expect(try await lab.get(url, "-o", "file", "--retry", "0").code == 6)
        // As after a loss of power: longer than the synced part, and without the content.
        let part = try #require(lab.content("file.part"))
        try lab.write(part + [UInt8](repeating: 0, count: 20_000), "file.part")
        let record = String(decoding: try #require(lab.content("file.part.resume")), as: UTF8.self)
        let lines = record.split(separator: "\n")
        #expect(lines.count == 2)
        try lab.write(Array("\(lines[0])\nanother-start\n".utf8), "file.part.resume")
        let rest = try await lab.get(url, "-o", "file", "--resume")
        #expect(rest.code == 0 && rest.errors.hasSuffix("(resumed at 43 %)\n"), "\(rest.errors)")
        #expect(lab.content("file") == OriginContent.bytes(0..<100_000))
    }

    @Test("401 is a refusal: no file, and what the server says")
    func unauthorized() async throws {
        let lab = try await GetLab()
        let end = try await lab.get(lab.origin.url("/basic-auth/u/p"), "-o", "file")
        #expect(end.code == 4 && end.errors.hasPrefix("reach: 401 unauthorized"), "\(end.errors)")
        #expect(lab.names.isEmpty)
    }

    @Test("130 on SIGINT: the part is stored with its record, and resumed")
    func interrupted() async throws {
        let lab = try await GetLab()
        let url = lab.origin.faultURL("/fault/stall?n=100000&after=60000&times=1&key=get-int")
        // The first line of progress proves that content has come.
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

    @Test("the next process resumes the part of a killed one")
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
        // A limit of the file size replaces the full disk (RLIMIT_FSIZE, in blocks of 512 bytes); Linux then
        // reports EFBIG. The thread sanitizer writes a file of its own and would end, so it gets no folder
        // for it.
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
        let shown = try await lab.terminal([url, "-o", "file"])
        #expect(shown.code == 0)
        #expect(shown.text.contains("━") && shown.text.contains(" of 8.0 kB"))
        let end = shown.text.split(separator: "\r").last ?? ""
        #expect(end.hasPrefix("\u{1B}[K8.0 kB from 127.0.0.1 in "))
        // A terminal that only prints gets lines without control characters.
        let dumb = try await lab.terminal([url, "-o", "file"], kind: "dumb")
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
