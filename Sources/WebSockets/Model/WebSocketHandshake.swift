// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
import HTTPTypes
package import SessionCore

/// The request that asks a server for a WebSocket, and the check of its answer (RFC 6455 §4.1).
package struct WebSocketHandshake: Sendable {
    /// What `Sec-WebSocket-Key` says.
    package let key: String
    private let protocols: [String]

    /// - Parameters:
    ///   - nonce: 16 random bytes, new for each connection.
    ///   - protocols: the subprotocols that are offered, the best first.
    package init(nonce: [UInt8], protocols: [String]) {
        key = Data(nonce).base64EncodedString()
        self.protocols = protocols
    }

    /// Checks the names of subprotocols: tokens, each once (RFC 6455 §4.1 item 10).
    package static func check(_ protocols: [String]) throws(SessionError) {
        for (index, name) in protocols.enumerated() {
            guard HTTPField.Name(name) != nil, !protocols[..<index].contains(name) else {
                throw SessionError(
                    .invalidHeaderField, "\(TextQuote(name)) is no name of a subprotocol, or is there twice",
                    advice: "use letters, digits and -, as in mqtt")
            }
        }
    }

    // MARK: The request

    /// The fields that a program cannot set: they belong to the handshake or to framing.
    private static let ownFields = [
        "connection", "upgrade", "sec-websocket-key", "sec-websocket-version", "sec-websocket-protocol",
        "sec-websocket-extensions", "content-length", "transfer-encoding", "te", "trailer", "expect",
    ]

    /// The head of a request, as it is sent.
    ///
    /// - Parameter cookies: what `Cookie` says, where the request has no such field; nil for none.
    package func head(of request: SessionRequest, cookies: String?) -> [UInt8] {
        let text = request.url.absoluteString
        let address = SocketURL(text)?.address() ?? text
        var lines = "GET \(Self.target(of: address)) HTTP/1.1\r\n"
        if request.headerFields.first(where: { $0.name.canonicalName == "host" })?.value.isEmpty != false {
            lines += "Host: \(Self.authority(of: address))\r\n"
        }
        for field in request.headerFields where !Self.ownFields.contains(field.name.canonicalName) {
            if field.name.canonicalName == "host", field.value.isEmpty { continue }
            lines += "\(field.name.rawName): \(field.value)\r\n"
        }
        if request.headerFields[.authorization] == nil, let user = request.url.user(percentEncoded: false) {
            let pair = "\(user):\(request.url.password(percentEncoded: false) ?? "")"
            lines += "Authorization: Basic \(Data(pair.utf8).base64EncodedString())\r\n"
        }
        if let cookies, request.headerFields[.cookie] == nil { lines += "Cookie: \(cookies)\r\n" }
        lines += "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        lines += "Sec-WebSocket-Key: \(key)\r\n"
        if !protocols.isEmpty {
            lines += "Sec-WebSocket-Protocol: \(protocols.joined(separator: ", "))\r\n"
        }
        return Array("\(lines)\r\n".utf8)
    }

    /// Path and query (RFC 9112 §3.2.1).
    private static func target(of address: String) -> String {
        let rest = address.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
        let path = rest.drop { !("/?#".utf8.contains($0)) }.prefix { $0 != UInt8(ascii: "#") }
        let text = String(decoding: Array(path), as: UTF8.self)
        return text.hasPrefix("/") ? text : "/\(text)"
    }

    /// Host and port as they are written, without user and zone (RFC 9110 §7.2, RFC 6874 §4).
    private static func authority(of address: String) -> String {
        var rest = address.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
        rest = rest.prefix { !("/?#".utf8.contains($0)) }
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[rest.index(after: at)...] }
        let text = String(decoding: Array(rest), as: UTF8.self)
        guard text.hasPrefix("["), let zone = text.firstIndex(of: "%"), let end = text.firstIndex(of: "]"),
            zone < end
        else { return text }
        return String(text[..<zone] + text[end...])
    }

    // MARK: The answer

    /// Checks an answer with status 101, and returns the subprotocol that the server has chosen.
    ///
    /// - Throws: ``SessionError/Code/badServerResponse`` with what is wrong.
    package func check(_ response: SessionResponse) throws(SessionError) -> String? {
        guard Self.names("websocket", in: response, "upgrade"),
            Self.names("upgrade", in: response, "connection")
        else { throw Self.refusal("the server switches to another protocol than WebSocket", response) }
        let accept = response.value(forHeader: "sec-websocket-accept")
        guard accept == Self.accept(for: key) else {
            throw Self.refusal(
                accept == nil
                    ? "the server's answer lacks Sec-WebSocket-Accept"
                    : "the server's answer has the wrong Sec-WebSocket-Accept: it is to another request",
                response)
        }
        if let extensions = response.value(forHeader: "sec-websocket-extensions"), !extensions.isEmpty {
            throw Self.refusal("the server uses \(TextQuote(extensions)), which was not offered", response)
        }
        guard let chosen = response.value(forHeader: "sec-websocket-protocol") else { return nil }
        guard protocols.contains(chosen) else {
            throw Self.refusal("the server speaks \(TextQuote(chosen)), which was not offered", response)
        }
        return chosen
    }

    /// What a server answers to a key.
    package static func accept(for key: String) -> String {
        let text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        return Data(SHA1.digest(Array(text.utf8))).base64EncodedString()
    }

    /// Whether a field has a word among its members, in any case.
    private static func names(_ word: String, in response: SessionResponse, _ field: String) -> Bool {
        (response.value(forHeader: field) ?? "").split(separator: ",").contains {
            $0.trimmingBlanks.lowercased() == word
        }
    }

    private static func refusal(_ sentence: String, _ response: SessionResponse) -> SessionError {
        SessionError(
            .badServerResponse, sentence, advice: "the server, or a proxy before it, is broken",
            failingURL: response.url, response: response)
    }

    /// Why an answer with another status opens no WebSocket.
    package static func refusal(_ response: SessionResponse, data: Data?) -> SessionError {
        let status = response.statusCode ?? 0
        let phrase = reasonPhrase(forStatus: status)
        let (words, advice) =
            switch status {
            case 200..<300:
                ("answers as to an ordinary request", "check the path: no WebSocket is served there")
            case 426: ("wants another version of the protocol", "the server is older than RFC 6455, or newer")
            case 401:
                ("wants credentials", "set a credential or a challenge handler; Basic and tokens can be sent")
            case 403: ("refuses it", "check the credentials, and the Origin that the server expects")
            case 404: ("has nothing there", "check the path")
            case 500...: ("cannot at the moment", "try again later")
            default: ("refuses it", "")
            }
        return SessionError(
            status == 401 ? .userAuthenticationRequired : .badServerResponse,
            "the server opens no WebSocket, but \(words): status \(status) (\(phrase))",
            advice: advice, failingURL: response.url, response: response, data: data)
    }
}
