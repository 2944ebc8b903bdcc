// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import Testing

struct RulesCurlTests {
    private func words(
        _ request: SessionRequest, _ command: CurlCommand = CurlCommand(), cookies: String? = nil
    ) -> [String] {
        command.text(request, cookies: cookies).split(separator: " \\\n    ").map(String.init)
    }

    @Test("a plain GET, a HEAD, an interface, another method")
    func methods() throws {
        var request = try SessionRequest("https://h/p")
        #expect(request.curlDescription == "curl \\\n    --compressed \\\n    https://h/p")
        request.options.decompressesContent = false
        request.options.interface = "wlan0"
        request.method = .head
        #expect(words(request) == ["curl", "--head", "--interface wlan0", "https://h/p"])
        request.options.interface = nil
        request.method = .delete
        #expect(words(request) == ["curl", "-X DELETE", "https://h/p"])
    }

    @Test("API-599 a part is asked for without a coding")
    func ranges() throws {
        var request = try SessionRequest("https://h/p", headerFields: [.range: "bytes=0-4"])
        #expect(
            words(request)
                == ["curl", "-H 'Accept-Encoding: identity'", "-H 'Range: bytes=0-4'", "https://h/p"])
        request.options.omittedFields = [.acceptEncoding]
        #expect(words(request) == ["curl", "-H 'Range: bytes=0-4'", "https://h/p"])
    }

    @Test("bodies: text, what a shell must not touch, too much, binary, files, streams")
    func bodies() throws {
        struct Stream: BodySource {
            var length: Int64? { nil }
            var isRewindable: Bool { false }
            func makeReader() throws(SessionError) -> any BodyReader {
                throw SessionError(.requestBodyStreamExhausted, "")
            }
        }
        var request = try SessionRequest("https://h/", method: .post)
        request.headerFields = [.contentType: "application/json", .acceptEncoding: "br"]
        func body(_ body: RequestBody) -> String {
            request.body = body
            return words(request).first { $0.hasPrefix("--data") } ?? "none"
        }
        #expect(
            body(.data(Data("{\"a\": \"it's $HOME `x`\"}".utf8)))
                == "--data-raw '{\"a\": \"it'\\''s $HOME `x`\"}'")
        #expect(body(.data(Data("@file".utf8))) == "--data-raw @file")
        #expect(body(.data(Data("a\u{1B}[2J\n'\u{7}1".utf8))) == "--data-raw $'a\\033[2J\\n\\'\\0071'")
        #expect(body(.data(Data("\u{202E}".utf8))) == "--data-raw $'\\342\\200\\256'")
        #expect(body(.data(Data([0xFF, 0x41]))) == "--data-raw $'\\377A'")
        #expect(body(.data(Data([0, 1]))) == "--data-binary @body-of-2-bytes")
        #expect(body(.data(Data())) == "--data-raw ''")
        #expect(body(.data(Data(repeating: 0x41, count: 1025))) == "--data-binary @body-of-1025-bytes")
        #expect(body(.file(path: "/tmp/a b")) == "--data-binary '@/tmp/a b'")
        #expect(body(.stream(Stream())) == "--data-binary @body-of-unknown-bytes")
        request.headerFields[.contentType] = nil
        #expect(words(request).contains("-H 'Content-Type:'"))
    }

    @Test("secrets are not shown, unless that is asked for")
    func secrets() throws {
        var request = try SessionRequest("https://me:s3cret@h/p?a=1&access_token=s3cret&b#f")
        for (name, value) in [
            ("Authorization", "Bearer s3cret"), ("Proxy-Authorization", "s3cret"), ("Cookie", "sid=s3cret"),
            ("X-API-KEY", "s3cret"),
            ("X-Mine", "s3cret"),
        ] { try request.setValue(value, forHeader: name) }
        var command = CurlCommand()
        command.sensitiveFields = SensitiveFields(adding: ["x-mine"])
        let text = words(request, command, cookies: "other=s3cret")
        #expect(!text.joined().contains("s3cret"))
        #expect(text.contains("-H 'Authorization: Bearer ***'"))
        #expect(text.contains("-H 'Proxy-Authorization: ***'"))
        #expect(text.contains("-H 'X-API-KEY: ***'"))
        #expect(text.last == "'https://me:***@h/p?a=1&access_token=***&b#f'")
        try request.setValue(nil, forHeader: "cookie")
        #expect(words(request, command, cookies: "a=s3cret; b=s3cret").contains("-b 'a=***; b=***'"))
        command.showsSecrets = true
        let all = words(request, command, cookies: "sid=s3cret")
        #expect(all.contains("-H 'Authorization: Bearer s3cret'"))
        #expect(all.contains("-b sid=s3cret"))
        #expect(all.last == "'https://me:s3cret@h/p?a=1&access_token=s3cret&b#f'")
    }

    @Test("the caller says which parameters are secrets, and how much of a body is shown")
    func said() throws {
        var request = try SessionRequest("https://h/p?token=a&Mine=b", method: .post)
        request.body = .data(Data("12345".utf8))
        var command = CurlCommand()
        command.sensitiveParameters = ["mine"]
        command.longestBody = 5
        #expect(words(request, command).last == "'https://h/p?token=a&Mine=***'")
        #expect(words(request, command).contains("--data-raw 12345"))
        command.longestBody = 4
        #expect(words(request, command).contains("--data-binary @body-of-5-bytes"))
    }

    @Test("a token in the place of the user is a secret as well")
    func userAlone() throws {
        #expect(words(try SessionRequest("https://s3cret@h/")).last == "'https://***@h/'")
    }

    @Test("what curl itself would take for something else")
    func curlsOwn() throws {
        var request = try SessionRequest("http://[::1]/")
        request.headerFields = [.accept: ""]
        #expect(words(request) == ["curl", "--compressed", "-H 'Accept;'", "--globoff", "'http://[::1]/'"])
    }
}
