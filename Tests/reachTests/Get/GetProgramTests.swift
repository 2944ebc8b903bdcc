// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import reach

/// `reach get` against the origin: content, files, exit codes.
@Suite("The program: get", .timeLimit(.minutes(10)))
struct GetProgramTests {
    private let seven = Array("{\"a\":1}".utf8)

    @Test("content goes to standard output, one sentence to standard error")
    func standardOutput() async throws {
        let lab = try await GetLab()
        let end = try await lab.get(lab.origin.url("/bytes/100000"))
        #expect(end.code == 0)
        #expect(end.output == OriginContent.bytes(0..<100_000))
        #expect(end.errors.hasPrefix("100.0 kB from 127.0.0.1 in "))
        #expect(end.errors.split(separator: "\n").count == 1)
        let quiet = try await lab.get(lab.origin.url("/bytes/10"), "-q")
        #expect(quiet.code == 0 && quiet.errors.isEmpty && quiet.output.count == 10)
    }

    @Test("a file is saved whole, under a given name or the URL's, and reported")
    func file() async throws {
        let lab = try await GetLab()
        try lab.write(Array("old".utf8), "kept")
        let named = try await lab.get(lab.origin.url("/bytes/100000"), "-o", "kept")
        #expect(named.code == 0 && named.output.isEmpty)
        #expect(named.errors.hasPrefix("100.0 kB from 127.0.0.1 in "))
        #expect(named.errors.hasSuffix(" s, saved as kept\n"))
        #expect(lab.content("kept") == OriginContent.bytes(0..<100_000))
        #expect(try await lab.get(lab.origin.url("/file/1k?x=1"), "-O").code == 0)
        #expect(lab.content("1k")?.count == 1024)
        #expect(lab.names == ["1k", "kept"])
    }

    @Test("a device is written to and not replaced; what a link leads to is replaced, not the link")
    func specialFiles() async throws {
        let lab = try await GetLab()
        let null = try await lab.get(lab.origin.url("/bytes/10"), "-o", "/dev/null")
        #expect(null.code == 0)
        var status = stat()
        #expect(lstat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
        try lab.write([1], "real")
        symlink("real", "\(lab.folder)/link")
        #expect(try await lab.get(lab.origin.url("/bytes/10"), "-o", "link").code == 0)
        #expect(lab.content("real")?.count == 10)
        #expect(lab.names == ["link", "real"])
        let directory = try await lab.get(lab.origin.url("/bytes/10"), "-o", ".")
        #expect(directory.code == 74 && directory.errors == "reach: . is a directory; name a file in it\n")
    }

    @Test(
        "FLD-076 a link to standard output is written through, whatever that is; a dangling link is followed")
    func links() async throws {
        let lab = try await GetLab()
        let url = lab.origin.url("/bytes/10")
        // As /dev/stdout, which a download by root would replace for the whole machine.
        symlink("/proc/self/fd/1", "\(lab.folder)/out")
        symlink("sub/../file", "\(lab.folder)/first")
        symlink("first", "\(lab.folder)/second")
        symlink("loop", "\(lab.folder)/loop")
        mkdir("\(lab.folder)/sub", 0o755)
        let piped = try await lab.shell(#""$@" | cat"#, [url, "-o", "out"])
        #expect(piped.output.count == 10, "\(piped.errors)")
        let appended = try await lab.shell(
            #"echo before >log; "$@" >>log && echo after >>log"#, [url, "-o", "out"])
        #expect(appended.code == 0 && lab.content("log")?.count == 23, "\(appended.errors)")
        let removed = try await lab.shell(
            #"exec 3>gone; rm gone; ln -s /proc/self/fd/3 three; "$@""#, [url, "-o", "three"])
        #expect(removed.code == 0, "\(removed.errors)")
        #expect(try await lab.get(url, "-o", "second").code == 0)
        #expect(lab.content("file")?.count == 10)
        let loop = try await lab.get(url, "-o", "loop")
        #expect(
            loop.code == 74 && loop.errors.contains("Too many levels of symbolic links"), "\(loop.errors)")
        #expect(lab.names == ["file", "first", "log", "loop", "out", "second", "sub", "three"])
    }

    @Test("what stands in the place of FILE.part is named, with what to do about it")
    func partInTheWay() async throws {
        let lab = try await GetLab()
        try FileManager.default.createDirectory(
            atPath: "\(lab.folder)/file.part", withIntermediateDirectories: true)
        let directory = try await lab.get(lab.origin.url("/bytes/10"), "-o", "file")
        #expect(directory.code == 74)
        #expect(
            directory.errors
                == "reach: cannot create file.part: Is a directory; move it away, or choose another name\n"
        )
        #expect(symlink("elsewhere", "\(lab.folder)/linked.part") == 0)
        let link = try await lab.get(lab.origin.url("/bytes/10"), "-o", "linked")
        #expect(link.code == 74 && link.errors.contains("symbolic links are not followed"), "\(link.errors)")
        #expect(mkfifo("\(lab.folder)/piped.part", 0o600) == 0)
        let pipe = try await lab.get(lab.origin.url("/bytes/10"), "-o", "piped")
        #expect(pipe.code == 74 && pipe.errors.contains("cannot create piped.part"), "\(pipe.errors)")
        #expect(lab.names == ["file.part", "linked.part", "piped.part"])
    }

    @Test("method, data and header fields as curl spells them")
    func request() async throws {
        let lab = try await GetLab()
        let url = lab.origin.url("/anything")
        let form = try await lab.get(url, "-d", "a=1", "-d", "b=2", "-H", "X-One: 1", "-H", "User-Agent:")
        #expect(form.code == 0)
        #expect(form.text.contains(#""method": "POST""#))
        #expect(form.text.contains(#""b": "2""#) && form.text.contains("X-One"))
        #expect(!form.text.contains("User-Agent"))
        try lab.write(seven, "body.json")
        let file = try await lab.get(
            url, "-X", "PUT", "-d", "@body.json", "-H", "content-type: application/json")
        #expect(file.text.contains("PUT") && file.text.contains("application/json"))
        #expect(!file.text.contains("x-www-form-urlencoded"))
        let input = try await lab.get(url, "-d", "@-", input: Array("from=stdin".utf8))
        #expect(input.text.contains(#""from": "stdin""#))
        let missing = try await lab.get(url, "-d", "@nothing")
        #expect(missing.code == 74 && missing.errors == "reach: nothing: No such file or directory\n")
    }

    @Test(
        "exit codes: status, no connection, time-out, TLS",
        arguments: [
            ("/json-status/404", OriginListener.http, [String](), 4), ("/status/503", .http, [], 5),
            ("/fault/garbage", .direct, [], 5), ("/", .refused, [], 6), ("/", .reset, [], 6),
            ("/", .silent, ["--max-time", "0.3"], 2),
            ("/", .blackhole, ["--connect-timeout", "0.3"], 2), ("/get", .https, [], 7),
        ])
    func failures(path: String, listener: OriginListener, options: [String], code: Int32) async throws {
        let lab = try await GetLab()
        let url = lab.origin.url(path, at: listener, host: listener.isSecure ? "localhost" : nil)
        for target in [[], ["-o", "file"]] {
            let end = try await lab.shell("exec \"$@\"", [url] + options + target)
            #expect(end.code == code, "\(end.errors)")
            #expect(end.output.isEmpty)
            #expect(end.errors.hasPrefix("reach: ") && end.errors.split(separator: "\n").count == 1)
            #expect(end.errors.contains(url))
        }
        #expect(lab.names.isEmpty)
    }

    @Test("the environment's proxy is asked; what has no value, and capitals for http, name none")
    func proxy() async throws {
        let lab = try await GetLab()
        let url = lab.origin.url("/get", host: "no.such.test")
        let address = "http://127.0.0.1:\(lab.origin.port(.proxy))"
        for named in ["http_proxy=\(address)", "http_proxy= all_proxy=\(address)"] {
            let end = try await lab.shell("exec env \(named) \"$@\"", [url])
            #expect(end.code == 0 && end.text.contains("1.1 origin"), "\(end.errors)")
        }
        for other in ["http_proxy=", "HTTP_PROXY=\(address)", "http_proxy=\(address) no_proxy=such.test"] {
            let end = try await lab.shell("exec env \(other) \"$@\"", [url])
            #expect(end.code == 6, "\(end.errors)")
        }
        let nothing = "http_proxy=127.0.0.1:\(lab.origin.port(.refused))"
        let dead = try await lab.shell("exec env \(nothing) \"$@\"", [url])
        #expect(dead.code == 6, "\(dead.errors)")
        #expect(dead.errors.contains("correct http_proxy, which names it"), "\(dead.errors)")
        let strict = "127.0.0.1:\(lab.origin.port(.proxyAuth))"
        for (listener, variable) in [(OriginListener.http, "http_proxy"), (.https, "https_proxy")] {
            let url = lab.origin.url("/get", at: listener, host: "localhost")
            let refused = try await lab.shell("exec env \(variable)=\(strict) \"$@\"", [url])
            #expect(refused.code == 4 && refused.errors.contains("407"), "\(refused.errors)")
        }
    }

    @Test("UPL-530 exceptions of `no_proxy` hold as they are read, those of IPv6 too")
    func proxyExceptions() async throws {
        let lab = try await GetLab()
        guard lab.origin.hasIPv6 else { return }
        let url = lab.origin.url("/get", host: "[::1]")
        let proxy = "http_proxy=http://127.0.0.1:\(lab.origin.port(.proxy))"
        for list in ["[::1]", "::1", "::1/128", "::/0", "0:0:0:0:0:0:0:1"] {
            let end = try await lab.shell("exec env \(proxy) 'no_proxy=\(list)' \"$@\"", [url])
            #expect(end.code == 0 && !end.text.contains("1.1 origin"), "\(list) \(end.errors)")
        }
        for list in ["", "::2", "[::2]", "::2/128", "127.0.0.1"] {
            let end = try await lab.shell("exec env \(proxy) 'no_proxy=\(list)' \"$@\"", [url])
            #expect(end.code == 0 && end.text.contains("1.1 origin"), "\(list) \(end.errors)")
        }
    }

    @Test(
        "FLD-030 a URL that cannot be is wrong usage, wherever one is given",
        arguments: [
            "http://127.0.0.1:99999/", "http://127.0.0.1:65536/", "http://127.0.0.1:0/",
            "http://127.0.0.1:99999999999999999999/", "http://[::1]:065536/", "http://[zz]/", "http://a%20b/",
        ])
    func impossibleURL(_ url: String) async throws {
        let lab = try await GetLab()
        for command in [
            "get", "send --state-directory state -d x", "doctor", "status --probe", "watch --count 1 --probe",
        ] {
            let end = try await lab.shell("program=$1; url=$3; exec \"$program\" \(command) \"$url\"", [url])
            #expect(end.code == 64 && end.output.isEmpty, "\(command): \(end.errors)")
        }
        let proxied = try await lab.get("http://a.example/", "-x", "http://127.0.0.1:0")
        #expect(proxied.code == 64, "\(proxied.errors)")
        #expect(lab.names.isEmpty)
    }

    @Test(
        "FLD-065 -O saves under the last part of the path, also where that is -; standard output is -o - alone"
    )
    func remoteNames() async throws {
        let lab = try await GetLab()
        for path in ["/anything/-", "/anything/%2d"] {
            let end = try await lab.get(lab.origin.url(path), "-O")
            #expect(
                end.code == 0 && end.output.isEmpty && end.errors.hasSuffix("saved as ./-\n"), "\(end.errors)"
            )
        }
        #expect(lab.names == ["-"])
        let long = try await lab.get(lab.origin.url("/anything/\(String(repeating: "a", count: 239))"), "-O")
        #expect(long.code == 64 && long.errors.contains("too long"), "\(long.errors)")
        for path in ["/anything/", "/anything/.", "/anything/%2e%2e"] {
            #expect(try await lab.get(lab.origin.url(path), "-O").code == 64)
        }
    }

    @Test(
        "FLD-071 304, 101 and redirects to nowhere are the server's fault, and the sentence says why",
        arguments: [
            ("not-modified", [String](), 5, "names nothing that could be unmodified"),
            ("not-modified", ["-H", "If-None-Match: \"x\""], 4, "nothing else than what the request names"),
            ("unasked-upgrade", [], 5, "without being asked (status 101)"),
            ("no-location", [], 5, "does not say where to go"),
        ])
    func strangeStatuses(_ fault: String, _ options: [String], _ code: Int32, _ words: String) async throws {
        let lab = try await GetLab()
        for target in [[], ["-o", "file"]] {
            let url = lab.origin.faultURL("/fault/\(fault)")
            let end = try await lab.shell("exec \"$@\"", [url] + options + target)
            #expect(end.code == code && end.errors.contains(words), "\(end.errors)")
        }
        #expect(lab.names.isEmpty)
    }

    @Test("FLD-064 an unrequested part is refused, on standard output too")
    func unaskedPart() async throws {
        let lab = try await GetLab()
        let url = lab.origin.faultURL("/fault/range?n=1000&lie=unasked")
        for target in ["-", "file"] {
            let end = try await lab.get(url, "-o", target)
            #expect(end.code == 5 && end.output.isEmpty, "\(end.errors)")
        }
        let asked = try await lab.get(lab.origin.url("/range/1000"), "-H", "Range: bytes=0-9")
        #expect(asked.code == 0 && asked.output.count == 10, "\(asked.errors)")
    }

    @Test("a server's message beside a status is printed")
    func refusal() async throws {
        let lab = try await GetLab()
        let end = try await lab.get(lab.origin.url("/json-status/404"), "-o", "file")
        #expect(end.errors.hasSuffix(#"/json-status/404): {"e":404}"# + "\n"))
        let url = lab.origin.url("/json-status/500").replacingOccurrences(of: "//", with: "//me:secret@")
        let secret = try await lab.get(url)
        #expect(secret.code == 5)
        #expect(!secret.errors.contains("secret"))
    }

    @Test("own roots and pins: the right one passes, a wrong one explains itself with 7")
    func pins() async throws {
        let lab = try await GetLab()
        let origin = lab.origin
        let url = origin.url("/bytes/10", at: .https, host: "localhost")
        let right = try await lab.get(
            url, "--cacert", origin.pem(.root), "--pin", "\(origin.pin(.otherRoot));\(origin.pin(.leaf))")
        #expect(right.code == 0, "\(right.errors)")
        let wrong = try await lab.get(
            url, "--cacert", origin.pem(.root), "--pinnedpubkey", origin.pin(.otherRoot), "-o", "file")
        #expect(wrong.code == 7)
        #expect(wrong.errors.contains("localhost") && wrong.errors.contains("sha256//"))
        #expect(lab.names.isEmpty)
        let strict = origin.url("/get", at: .mtls, host: "localhost")
        let client = try await lab.get(
            strict, "--cacert", origin.pem(.root), "--cert", origin.pem(.client), "--key", origin.key(.client)
        )
        #expect(client.code == 0, "\(client.errors)")
        #expect(try await lab.get(strict, "--cacert", origin.pem(.root)).code == 4)
    }

    @Test("--json: one object, on standard output beside a file, on standard error beside content")
    func json() async throws {
        let lab = try await GetLab()
        let end = try await lab.get(lab.origin.url("/bytes/7"), "-o", "file", "--json")
        #expect(end.code == 0 && end.errors.isEmpty)
        #expect(
            end.text.hasPrefix(
                #"{"schema":1,"ok":true,"exit":0,"status":200,"version":"HTTP/1.1","url":"http"#))
        #expect(end.text.contains(#""bytes":7,"size":7,"total":7,"resumedAt":0,"seconds":"#))
        #expect(end.text.contains(#""file":"file","kept":null,"keptBytes":0,"sha256":""#))
        let content = try await lab.get(lab.origin.url("/bytes/7"), "--json")
        #expect(content.output.count == 7)
        #expect(
            content.errors.contains(
                #""sha256":null,"error":null,"errorCode":null,"retries":0,"requested":"http"#))
        let failed = try await lab.get(lab.origin.url("/status/404"), "-o", "new", "--json")
        #expect(failed.code == 4)
        #expect(failed.text.hasPrefix(#"{"schema":1,"ok":false,"exit":4,"status":404,"#))
        #expect(failed.text.contains(#""errorCode":-1011,"retries":0,"requested":""#))
    }
}
