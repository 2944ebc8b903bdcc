// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

/// What an echo says.
private struct Echo: Decodable {
    let method: String
    let url: String
    let args: [String: String]
    let form: [String: String]
    let files: [String: String]
    let headers: [String: String]
    let rawHeaders: [[String]]
    let data: String
    let size: Int
    let chunked: Bool
}

private func decoded<Value: Decodable>(_ type: Value.Type, _ transfer: Curl.Transfer) throws -> Value {
    try #require(transfer.code == 0, "\(transfer.errors)")
    return try JSONDecoder().decode(type, from: Data(transfer.body))
}

@Suite struct EndpointTests {
    @Test(
        "Each verb is echoed at its own path, and refused at the others",
        arguments: ["get", "post", "put", "patch", "delete"])
    func verbs(verb: String) async throws {
        let curl = Curl(origin: try await .shared)
        let url = curl.origin.url("/\(verb)?a=1&b=x%20y")
        let echo = try decoded(
            Echo.self,
            try await curl(
                "-X", verb.uppercased(), "-H", "X-Bar: bar", "-H", "x-low: 1", "-d", "key=value", url))
        #expect(echo.method == verb.uppercased())
        #expect(echo.url == url)
        #expect(echo.args == ["a": "1", "b": "x y"])
        #expect(echo.form == ["key": "value"])
        #expect(echo.headers["X-Bar"] == "bar")
        #expect(echo.rawHeaders.contains(["x-low", "1"]))
        #expect(
            echo.headers["Connection"] == nil && echo.headers.keys.allSatisfy { !$0.hasPrefix("X-Proxied") })
        let other = try await curl("-X", "OPTIONS", "-o", "/dev/null", "-w", "%{http_code}", url)
        #expect(other.text == "405")
    }

    @Test("Parts of a form arrive with names, file names, types and their bytes") func multipart()
        async throws
    {
        let curl = Curl(origin: try await .shared)
        let echo = try decoded(
            Echo.self,
            try await curl("-F", "key=value", "-F", "DataName=Data;filename=a.txt", curl.origin.url("/post")))
        #expect(echo.form == ["key": "value"])
        #expect(echo.files == ["DataName": "Data"])
    }

    @Test("The exact header lines come back in their order") func rawHeaders() async throws {
        let curl = Curl(origin: try await .shared)
        let got = try await curl(
            "-H", "User-Agent:", "-H", "Accept:", "-H", "b: 2", "-H", "A:1", "-H", "b: 3",
            curl.origin.faultURL("/raw-headers"))
        let port = curl.origin.port(.direct)
        #expect(got.text == "Host: 127.0.0.1:\(port)\r\nb: 2\r\nA:1\r\nb: 3\r\n")
    }

    @Test(
        "Statuses, types and lengths are as written",
        arguments: [
            ("/status/404", "404 text/html 0"), ("/status/204", "204 text/html 0"),
            ("/status/200", "200 text/html 0"),
            ("/json-status/500", "500 application/json 9"), ("/html", "200 text/html; charset=utf-8 124"),
            ("/bytes/100000", "200 application/octet-stream 100000"),
            ("/chunked/5000", "200 application/octet-stream 5000"),
            ("/drip?n=5&ms=1", "200 application/octet-stream 5"), ("/redirect/1", "302 text/html 0"),
            ("/redirect-to?url=http://x.test/a%3Fb&code=308", "308 text/html 0"),
            ("/basic-auth/u/p", "401 application/json 28"),
            ("/hidden-basic-auth/u/p", "404 application/json 28"),
            ("/xml", "200 application/xml 104"), ("/csv", "200 text/csv 29"),
            ("/plist", "200 application/x-plist 391"),
            ("/body?status=500&type=application/json&text=%7B", "500 application/json 1"),
            ("/body?hex=00ff&type=text/html", "200 text/html 2"),
            ("/file/1k", "200 application/octet-stream 1024"),
            ("/nowhere", "404 application/json 37"),
        ])
    func replies(path: String, expected: String) async throws {
        let curl = Curl(origin: try await .shared)
        let format = "%{http_code} %{content_type} %{size_download}"
        let got = try await curl("-o", "/dev/null", "-w", format, curl.origin.url(path))
        #expect(got.text == expected)
    }

    @Test("Redirects lead to their end and keep the query") func redirects() async throws {
        let curl = Curl(origin: try await .shared)
        let got = try await curl(
            "-L", "-o", "/dev/null", "-w", "%{num_redirects} %{url_effective}",
            curl.origin.url("/redirect/3?a=1"))
        #expect(got.text == "3 \(curl.origin.url("/get?a=1"))")
    }

    @Test("The right credentials are let in", arguments: ["basic-auth", "digest-auth", "hidden-basic-auth"])
    func credentials(kind: String) async throws {
        let curl = Curl(origin: try await .shared)
        let way = kind.hasPrefix("digest") ? "--digest" : "--basic"
        let url = curl.origin.url("/\(kind)/user/password")
        let format = "%{http_code}"
        #expect(
            try await curl(way, "-u", "user:password", "-o", "/dev/null", "-w", format, url).text == "200")
        let refused = kind.hasPrefix("hidden") ? "404" : "401"
        #expect(try await curl(way, "-u", "user:wrong", "-o", "/dev/null", "-w", format, url).text == refused)
        #expect(try await curl("-o", "/dev/null", "-w", format, url).text == refused)
    }

    @Test("Digest speaks SHA-256 as well") func digest() async throws {
        let curl = Curl(origin: try await .shared)
        let url = curl.origin.url("/digest-auth/user/password?algorithm=SHA-256")
        #expect(
            try await curl("--digest", "-u", "user:password", "-o", "/dev/null", "-w", "%{http_code}", url)
                .text == "200")
    }

    @Test(
        "The bytes can be computed by the client",
        arguments: [
            "/bytes/300000", "/chunked/300000?chunk=7000", "/range/300000", "/gzip?n=300000",
            "/deflate?n=300000", "/deflate?n=300000&raw=1", "/brotli?n=300000",
        ])
    func content(path: String) async throws {
        let curl = Curl(origin: try await .shared)
        let got = try await curl("--compressed", curl.origin.url(path))
        #expect(got.body == OriginContent.bytes(0..<300000))
    }

    @Test("Ranges, and conditions on them") func ranges() async throws {
        let curl = Curl(origin: try await .shared)
        let url = curl.origin.url("/range/100000")
        let middle = try await curl("-r", "70000-70009", "-w", "%{http_code}", url)
        #expect(middle.body == OriginContent.bytes(70000..<70010) + Array("206".utf8))
        let rest = try await curl(
            "-C", "99990", "-w", "%{http_code}", "-H", "If-Range: \"range-100000-1\"", url)
        #expect(rest.body == OriginContent.bytes(99990..<100000) + Array("206".utf8))
        let changed = try await curl(
            "-r", "5-", "-o", "/dev/null", "-w", "%{http_code}", "-H", "If-Range: \"range-100000-1\"",
            url + "?v=2")
        #expect(changed.text == "200")
        let second = try await curl(url + "?v=2")
        #expect(second.body == OriginContent.bytes(0..<100000, version: 2))
        let beyond = try await curl("-r", "100000-", "-o", "/dev/null", "-D", "-", url)
        #expect(
            beyond.text.hasPrefix("HTTP/1.1 416")
                && beyond.text.contains("\r\nContent-Range: bytes */100000\r\n"))
        let known = try await curl("-H", "If-None-Match: W/\"range-100000-1\"", "-w", "%{http_code}", url)
        #expect(known.text == "304")
    }

    @Test("An upload is measured, with or without a known length") func upload() async throws {
        struct Report: Decodable {
            let count: Int
            let sha256: String
            let chunked: Bool
            let contentLength: String?
        }
        let curl = Curl(origin: try await .shared)
        let body = OriginContent.bytes(0..<200000)
        let sum = try await curl.origin.run(["sha256sum"], input: body).text.prefix(64)
        for listener in [OriginListener.http, .https, .h2, .direct, .directTLS] {
            let url = curl.origin.url("/upload", at: listener)
            let stream = try decoded(Report.self, try await curl("-T", "-", url, input: body))
            #expect(
                stream.count == 200000 && stream.sha256 == sum && stream.contentLength == nil, "\(listener)")
            #expect(stream.chunked)
            let file = try decoded(Report.self, try await curl("--data-binary", "@-", url, input: body))
            #expect(
                file.count == 200000 && file.sha256 == sum && file.contentLength == "200000" && !file.chunked)
        }
    }

    @Test("Cookies are set, sent and deleted") func cookies() async throws {
        let curl = Curl(origin: try await .shared)
        let got = try await curl(
            "-L", "-b", "", curl.origin.url("/cookies/set?a=1&b=2"), curl.origin.url("/cookies/delete?a"))
        #expect(got.text.contains("\"a\": \"1\"") && got.text.hasSuffix("\"b\": \"2\"\n }\n}\n"))
    }

    @Test("A cached reply has the headers asked for, and 304 for a client that has it") func caching()
        async throws
    {
        let curl = Curl(origin: try await .shared)
        let url = curl.origin.url(
            "/cache/a?cc=max-age%3D60,private&vary=Accept-Language&age=7&date=-100&key=caching")
        let got = try await curl("-D", "-", url)
        for line in ["Cache-Control: max-age=60,private", "Vary: Accept-Language", "Age: 7", "ETag: \"a-1\""]
        {
            #expect(got.text.contains("\r\n\(line)\r\n"))
        }
        #expect(got.text.components(separatedBy: "\r\nDate: ").count == 2)
        #expect(try await curl("-H", "If-None-Match: \"a-1\"", "-w", "%{http_code}", url).text == "304")
        #expect(try await curl(url).text.contains("\"serial\": 3"))
    }

    @Test(
        "Images are what they are called",
        arguments: [
            "png": [0x89, 0x50, 0x4e, 0x47], "jpeg": [0xff, 0xd8, 0xff], "gif": Array("GIF89a".utf8),
            "bmp": Array("BM".utf8), "tiff": [0x49, 0x49, 0x2a, 0], "ico": [0, 0, 1, 0],
            "xbm": Array("#define".utf8),
        ] as [String: [UInt8]])
    func images(name: String, signature: [UInt8]) async throws {
        let curl = Curl(origin: try await .shared)
        let got = try await curl(curl.origin.url("/image/\(name)?w=300&h=20"))
        #expect(got.body.starts(with: signature))
    }

    @Test("A token is void after its expiry, and refreshed") func tokens() async throws {
        let curl = Curl(origin: try await .shared)
        func status(_ token: String) async throws -> String {
            try await curl(
                "-H", "Authorization: Bearer \(token)", "-o", "/dev/null", "-w", "%{http_code}",
                curl.origin.url("/auth-token?key=tokens")
            ).text
        }
        #expect(try await status("tokens.1") == "200")
        _ = try await curl(curl.origin.url("/auth-token/expire?key=tokens"))
        #expect(try await status("tokens.1") == "401")
        #expect(
            try await curl(curl.origin.url("/auth-token/refresh?key=tokens")).text.contains(
                "\"token\": \"tokens.2\""))
        #expect(try await status("tokens.2") == "200")
    }

    @Test("Fails as often as asked, and says when to come again") func retryAfter() async throws {
        let curl = Curl(origin: try await .shared)
        let url = curl.origin.url("/retry-after?key=retries&times=2&status=429&after=3")
        let first = try await curl("-D", "-", url)
        #expect(first.text.hasPrefix("HTTP/1.1 429") && first.text.contains("\r\nRetry-After: 3\r\n"))
        let format = "%{http_code} "
        let rest = try await curl("-w", format, "-o", "/dev/null", url, "-o", "/dev/null", url)
        #expect(rest.text == "429 200 ")
    }
}
