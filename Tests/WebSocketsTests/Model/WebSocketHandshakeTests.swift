// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import Testing
import WebSockets

@Suite("The handshake of a WebSocket")
struct WebSocketHandshakeTests {
    private let handshake = WebSocketHandshake(
        nonce: Array("the sample nonce".utf8), protocols: ["soap", "wamp"])

    private func response(_ fields: [(String, String)], _ status: Int = 101) throws -> SessionResponse {
        let block = fields.map { "\($0.0): \($0.1)\r\n" }.joined()
        let url = try #require(URL(string: "https://example.com/chat"))
        return SessionResponse(
            url: url, statusCode: status, version: .http1_1, headerBlock: Array(block.utf8))
    }

    private let good = [
        ("Upgrade", "WebSocket"), ("Connection", "keep-alive, Upgrade"),
        ("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
    ]

    @Test("API-314 The key and its answer are those of RFC 6455 §1.3")
    func accept() throws {
        #expect(handshake.key == "dGhlIHNhbXBsZSBub25jZQ==")
        #expect(WebSocketHandshake.accept(for: handshake.key) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(try handshake.check(response(good)) == nil)
        #expect(try handshake.check(response(good + [("sec-websocket-protocol", "wamp")])) == "wamp")
    }

    @Test(
        "API-315 SHA-1 is that of RFC 3174, for keys of any length around a block's end",
        arguments: [
            ("", "Kfh9QIsMVZcl6xEPYxPHzW8SZ8w="),
            (String(repeating: "k", count: 19), "tWclcP21hrR+xgjYVswtQRW71GQ="),
            (String(repeating: "k", count: 20), "tSsjsIAvEVIQ+IC5K8+T/OkG8nU="),
            (String(repeating: "k", count: 27), "qUNe7W8rvas6tQS5F4QBTf/JpvE="),
            (String(repeating: "k", count: 28), "x9bmfLYIxLMaaT5h0sFuRlAhhb8="),
            (String(repeating: "k", count: 100), "rWzVOVhJgr+k5nChyKqRW0+OIwk="),
        ])
    func digests(key: String, answer: String) {
        #expect(WebSocketHandshake.accept(for: key) == answer)
    }

    @Test(
        "API-316 An answer that is not to this request, or promises what was not asked for, is refused with what is wrong"
    )
    func refusals() throws {
        func sentence(_ fields: [(String, String)]) throws -> String? {
            let response = try response(fields)
            do throws(SessionError) {
                _ = try handshake.check(response)
                return nil
            } catch {
                #expect(error.code == .badServerResponse)
                return error.message
            }
        }
        #expect(try sentence(Array(good[1...]))?.contains("another protocol") == true)
        #expect(try sentence([good[0], good[2]])?.contains("another protocol") == true)
        #expect(try sentence(Array(good[..<2]))?.contains("lacks Sec-WebSocket-Accept") == true)
        let wrong = Array(good[..<2]) + [("Sec-WebSocket-Accept", "AAAAAAAAAAAAAAAAAAAAAAAAAAA=")]
        #expect(try sentence(wrong)?.contains("wrong Sec-WebSocket-Accept") == true)
        #expect(
            try sentence(good + [("Sec-WebSocket-Extensions", "permessage-deflate")])?.contains(
                "permessage-deflate")
                == true)
        #expect(try sentence(good + [("Sec-WebSocket-Protocol", "mqtt")])?.contains("mqtt") == true)
    }

    @Test(
        "API-317 The request has what the protocol needs, and a program's fields about that do not get through"
    )
    func request() throws {
        var request = try SessionRequest("https://user:p%40ss@example.com:8443/a/b?x=1#part")
        request.headerFields[.userAgent] = "probe/1"
        for name in [
            "Connection", "Upgrade", "Sec-WebSocket-Key", "Sec-WebSocket-Extensions", "Content-Length",
        ] {
            try request.setValue("wrong", forHeader: name)
        }
        let text = String(decoding: handshake.head(of: request, cookies: "a=1; b=2"), as: UTF8.self)
        #expect(
            text == """
                GET /a/b?x=1 HTTP/1.1\r
                Host: example.com:8443\r
                User-Agent: probe/1\r
                Authorization: Basic dXNlcjpwQHNz\r
                Cookie: a=1; b=2\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Version: 13\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                Sec-WebSocket-Protocol: soap, wamp\r
                \r\n
                """)
    }

    @Test(
        "API-318 Host and target are those of the address",
        arguments: [
            ("http://example.com", "GET / HTTP/1.1\r\nHost: example.com\r\n"),
            ("http://example.com?q", "GET /?q HTTP/1.1\r\nHost: example.com\r\n"),
            ("http://[fe80::1%25eth0]:80/x", "GET /x HTTP/1.1\r\nHost: [fe80::1]:80\r\n"),
            ("http://[::1]/", "GET / HTTP/1.1\r\nHost: [::1]\r\n"),
        ])
    func targets(address: String, beginning: String) throws {
        let request = try SessionRequest(address)
        let text = String(decoding: handshake.head(of: request, cookies: nil), as: UTF8.self)
        #expect(text.hasPrefix(beginning))
        #expect(!text.contains("Cookie") && !text.contains("Authorization"))
    }

    @Test("API-319 Subprotocols are tokens, each once")
    func protocols() {
        #expect(throws: Never.self) { try WebSocketHandshake.check(["mqtt", "v1.example"]) }
        for names in [["a b"], [""], ["a", "a"], ["a,b"], ["ü"]] {
            #expect(throws: SessionError.self) { try WebSocketHandshake.check(names) }
        }
    }

    @Test(
        "API-320 An answer without an upgrade says what its status means, and keeps the response",
        arguments: [
            (200, "ordinary request"), (404, "nothing there"), (426, "another version"),
            (503, "at the moment"),
        ])
    func otherStatus(status: Int, words: String) throws {
        let error = WebSocketHandshake.refusal(try response([], status), data: Data("x".utf8))
        #expect(error.code == .badServerResponse)
        #expect(error.message.contains(words) && error.message.contains("\(status)"))
        #expect(error.response?.statusCode == status && error.data == Data("x".utf8))
        #expect(
            WebSocketHandshake.refusal(try response([], 401), data: nil).code == .userAuthenticationRequired)
    }
}
