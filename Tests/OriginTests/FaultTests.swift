// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@Suite struct FaultTests {
    private static let wires = [OriginListener.direct, .directTLS]

    /// curl's exit code, the status and how many bytes of the body came.
    private func outcome(_ curl: Curl, _ arguments: String..., input: [UInt8] = []) async throws -> String {
        let format = ["-o", "/dev/null", "-w", "%{http_code} %{size_download}"]
        let got = try await curl(arguments: format + arguments, input: input)
        return "\(got.code) \(got.text)"
    }

    @Test(
        "A reply ends after so many bytes, in each way", arguments: wires,
        ["close", "fin", "rst", "stall", "garbage"])
    func cut(listener: OriginListener, kind: String) async throws {
        let curl = Curl(origin: try await .shared)
        for framing in ["0", "1"] {
            let path = "/fault/cut?n=100000&after=30000&kind=\(kind)&chunked=\(framing)"
            let limit = kind == "stall" ? "1" : "60"
            let got = try await curl("--max-time", limit, curl.origin.url(path, at: listener))
            let codes: [Int32] = kind == "stall" ? [28] : kind == "close" ? [18] : [18, 56]
            #expect(codes.contains(got.code), "\(got.code) \(got.errors)")
            switch kind {
            // In the clear, garbage is a part of the body.
            case "garbage": break
            // On a busy machine not all bytes arrive within the second.
            case "stall": #expect(OriginContent.bytes(0..<30000).starts(with: got.body))
            default: #expect(got.body == OriginContent.bytes(0..<30000))
            }
        }
    }

    @Test("A reply ends in its head") func cutHead() async throws {
        let curl = Curl(origin: try await .shared)
        #expect(try await outcome(curl, curl.origin.faultURL("/fault/cut-head?after=0")) == "52 000 0")
        #expect(try await outcome(curl, curl.origin.faultURL("/fault/cut-head?kind=rst")) == "56 200 0")
    }

    @Test("A download that was reset goes on by range", arguments: wires) func resume(
        listener: OriginListener
    ) async throws {
        let curl = Curl(origin: try await .shared)
        let path = "/fault/cut?n=100000&after=30000&kind=rst&times=1&key=resume-\(listener.rawValue)"
        let url = curl.origin.url(path, at: listener)
        let first = try await curl(url)
        #expect(first.code == 56)
        let rest = try await curl("-r", "\(first.body.count)-", "-H", "If-Range: \"cut-100000-1\"", url)
        #expect(rest.code == 0 && first.body + rest.body == OriginContent.bytes(0..<100000))
    }

    @Test("A download stands still until its gate opens") func gate() async throws {
        let curl = Curl(origin: try await .shared)
        async let got = curl(curl.origin.faultURL("/fault/stall?n=5000&after=1000&gate=stalled&key=stalled"))
        try await curl.origin.wait(for: "stalled", [.sent: 1000])
        try await curl.origin.release("stalled")
        #expect(try await got.body == OriginContent.bytes(0..<5000))
    }

    @Test("So many requests of a key fail, the next does not") func flaky() async throws {
        let curl = Curl(origin: try await .shared)
        let url = curl.origin.faultURL("/fault/flaky?key=flaky&times=2&kind=rst")
        #expect(try await outcome(curl, url) == "56 000 0")
        #expect(try await outcome(curl, url) == "56 000 0")
        #expect(try await curl(url).code == 0)
        let again = curl.origin.faultURL("/fault/status/503?key=flaky-status")
        #expect(try await outcome(curl, again) == "0 503 0")
        #expect(try await curl(again).text.contains("\"method\": \"GET\""))
    }

    @Test("A kept connection ends when it is used again, or before", arguments: wires)
    func reuse(listener: OriginListener) async throws {
        let curl = Curl(origin: try await .shared)
        let key = "reuse-\(listener.rawValue)"
        let next = curl.origin.url("/status/200?key=\(key)", at: listener)
        // curl repeats such a request on a new connection; the first attempt is counted as well.
        let got = try await curl(curl.origin.url("/fault/close-on-reuse", at: listener), next)
        #expect(got.code == 0 && got.text == "hello")
        let known = try await curl.origin.statistics(key)
        #expect(known.count == 2 && known.aborted == 1 && known.connections == 2)
        #expect(try await curl(curl.origin.url("/fault/close-idle", at: listener), next).code == 0)
        #expect(try await curl.origin.count(key) == 3)
    }

    @Test("An upload is answered early, cut, or not taken any more") func uploads() async throws {
        let curl = Curl(origin: try await .shared)
        let body = [UInt8](repeating: 1, count: 8 << 20)
        func upload(_ path: String, _ limit: String = "60") async throws -> String {
            try await outcome(
                curl, "--max-time", limit, "-H", "Expect:", "-T", "-", curl.origin.faultURL(path), input: body
            )
        }
        #expect(try await upload("/fault/early?keep=1") == "0 413 14")
        #expect(["0 413 14", "55 413 14", "56 413 14"].contains(try await upload("/fault/early")))
        #expect(["55 000 0", "56 000 0"].contains(try await upload("/fault/cut-upload?after=100000")))
        #expect(try await upload("/fault/cut-upload?after=100000&kind=stall", "0.5") == "28 000 0")
        #expect(try await upload("/fault/expectation-failed") == "0 417 0")
    }

    @Test("Expect: 100-continue is ignored, refused or answered") func expectation() async throws {
        let curl = Curl(origin: try await .shared)
        func upload(_ path: String) async throws -> Curl.Transfer {
            try await curl("-D", "-", "-H", "Expect: 100-continue", "-d", "abc", curl.origin.faultURL(path))
        }
        #expect(try await upload("/upload").text.hasPrefix("HTTP/1.1 100 Continue\r\n"))
        #expect(try await upload("/fault/no-continue").text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(try await upload("/fault/expectation-failed").text.hasPrefix("HTTP/1.1 417 "))
    }

    @Test(
        "Heads without measure",
        arguments: [
            "/fault/header-bomb": "56 200 0", "/fault/header-bomb?bytes=50000": "0 200 5",
            "/fault/long-header?n=50000": "0 200 5",
            "/fault/many-headers?n=1000": "0 200 5", "/fault/slow-head?ms=0.1": "0 200 5",
            "/fault/storm?n=100": "0 200 5",
            "/fault/silent": "28 000 0",
        ])
    func heads(path: String, expected: String) async throws {
        let curl = Curl(origin: try await .shared)
        let limit = path.hasSuffix("silent") ? "0.5" : "60"
        #expect(try await outcome(curl, "--max-time", limit, curl.origin.faultURL(path)) == expected)
    }

    @Test("A header line of a megabyte, and interim replies without an end, are refused by curl itself")
    func tooMuch() async throws {
        let curl = Curl(origin: try await .shared)
        for path in ["/fault/long-header", "/fault/storm"] {
            let got = try await curl(curl.origin.faultURL(path))
            #expect(got.code != 0 && got.code != 28)
        }
    }

    @Test("Endless bodies and packed zeroes come as long as they are read") func bodies() async throws {
        let curl = Curl(origin: try await .shared)
        for path in ["/fault/endless", "/fault/endless?chunked=0"] {
            // --max-filesize ends only a transfer whose length is known in advance, so the reader ends it.
            let command = #"curl -q -sSf --max-time 120 "$0" | head -c 2000000 | wc -c"#
            let got = try await curl.origin.run(["sh", "-c", command, curl.origin.faultURL(path)])
            #expect(String(decoding: got.output, as: UTF8.self) == "2000000\n", "\(got.errors)")
        }
        for layers in [1, 2] {
            let got = try await curl(
                "--compressed", curl.origin.faultURL("/fault/gzip-bomb?n=3000001&layers=\(layers)"))
            #expect(got.body == [UInt8](repeating: 0, count: 3_000_001), "\(got.errors)")
        }
    }

    @Test(
        "Ranges are answered by lies",
        arguments: [
            "start": "bytes 4990-99999/100000 95010", "total": "bytes 5000-99999/101000 95000",
            "end": "bytes 5000-100099/101000 95000", "none": " 95000",
            "unit": "bananas 5000-99999/100000 95000",
            "whole": "bytes 5000-99999/100000 100000", "tag": "bytes 5000-99999/100000 95000",
            "refused": "bytes */5000 0",
        ])
    func lies(lie: String, expected: String) async throws {
        let curl = Curl(origin: try await .shared)
        let url = curl.origin.faultURL("/fault/range?lie=\(lie)")
        let got = try await curl(
            "-r", "5000-", "-o", "/dev/null", "-w", "%header{content-range} %{size_download}", url)
        #expect(got.text == expected)
        #expect(try await curl(url).body == OriginContent.bytes(0..<100000))
    }

    @Test(
        "Fixed replies are as wrong as their names",
        arguments: [
            "negative-length": "8 200 0", "text-length": "8 200 0", "long-length": "18 200 5",
            "duplicate-length": "0 200 5",
            "truncated-chunk": "18 200 3", "no-last-chunk": "18 200 5", "bad-chunk-size": "56 200 0",
            "huge-chunk-size": "56 200 0", "long-chunk": "56 200 0", "trailers": "0 200 5",
            "nul-in-header": "8 200 0",
            "invalid-utf8-header": "0 200 5", "http-0.9": "1 000 0", "garbage-status": "1 000 0",
            "empty": "52 000 0",
            "bad-gzip": "61 200 5", "wrong-sum-gzip": "61 200 48", "wrong-type": "0 200 15",
            "until-closed": "0 200 5",
            "no-location": "0 302 0",
        ])
    func replies(name: String, expected: String) async throws {
        let curl = Curl(origin: try await .shared)
        #expect(try await outcome(curl, "--compressed", curl.origin.faultURL("/fault/\(name)")) == expected)
    }

    @Test("What there is no fault for says which there are") func unknown() async throws {
        struct Answer: Decodable {
            let faults: [String]
        }
        let curl = Curl(origin: try await .shared)
        let got = try await curl(curl.origin.faultURL("/fault/kindness"))
        let known = try JSONDecoder().decode(Answer.self, from: Data(got.body)).faults
        #expect(Set(known).isSuperset(of: ["cut", "gzip-bomb", "nul-in-header", "close-on-reuse"]))
    }

    @Test("A redirect to itself never ends, unless it is told when") func loop() async throws {
        let curl = Curl(origin: try await .shared)
        #expect(
            try await outcome(curl, "-L", "--max-redirs", "20", curl.origin.url("/loop?key=loop"))
                == "47 302 0")
        #expect(try await curl.origin.count("loop") == 21)
        #expect(try await curl("-L", curl.origin.url("/loop?n=5&key=loop-5")).code == 0)
        #expect(try await curl.origin.count("loop-5") == 6)
    }

    @Test("A connection that was reset or cut is counted as such") func counted() async throws {
        let curl = Curl(origin: try await .shared)
        _ = try await curl(curl.origin.faultURL("/fault/cut?after=10&key=cut-counted"))
        let known = try await curl.origin.wait(for: "cut-counted", [.active: 0])
        #expect(known.count == 1 && known.sent == 10)
        try await curl.origin.wait(for: "cut-counted", [.open: 0])
    }
}
