// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
import SessionCore

/// Whether a body waits until the server wants it (`Expect: 100-continue`, RFC 9110 §10.1.1).
enum ContinueExpectation {
    /// As the request says.
    case asWanted
    /// The server has refused to be asked (417), and the request is to begin anew.
    case refused
    /// The request goes without.
    case left
}

/// What has come of a transfer before its content; written in this file alone.
struct ReceivedHeads {
    /// The head of the response, once it is complete.
    fileprivate(set) var response: SessionResponse?
    fileprivate(set) var facts = ResponseHeadInfo()
    /// The version that was spoken, once it is known; apart, since it is asked for with each transfer.
    fileprivate(set) var version: HTTPVersion?
    /// How the connection ends, where only that ends the content.
    fileprivate(set) var tlsEnding: TLSEnding?
    /// What the proxy has answered instead of making the tunnel; not a response of the server.
    fileprivate(set) var tunnelRefusal: SessionResponse?
    /// How many connections had been made when a proxy made the last tunnel.
    fileprivate(set) var tunnelledConnects = 0
    /// What has become of the request's expectation, where it has one.
    fileprivate(set) var expectation = ContinueExpectation.asWanted
    /// The challenges that libcurl has answered by itself.
    fileprivate var rounds = LibraryRounds()
}

extension Transfer {
    /// The longest head that is accepted: 256 KiB.
    static let headLimit = 256 << 10

    /// A whole head, empty where it or the trailers are longer than the limit; false where the transfer is to
    /// end.
    func received(head bytes: UnsafeRawBufferPointer) -> Bool {
        // Trailers that look like a head: the one that counts has come, and its content too.
        guard content.sink == nil || bytes.isEmpty else { return true }
        guard let (version, status, fields) = parts(of: bytes, sentBy: "server") else { return false }
        guard let version, status >= 100 else {
            return refuse("the answer's first line is none of HTTP", advice: "")
        }
        stopAwaiting()
        // Interim responses (RFC 9110 §15.2) announce another one.
        if status < 200, status != 101 { return true }
        if status == 417, losesExpectation() { return false }
        heads.facts = ResponseHeadInfo(fields)
        let head = SessionResponse(
            url: request.url, statusCode: status, version: version, headerBlock: [UInt8](fields),
            requestMethod: request.method)
        heads.response = head
        heads.version = version
        recordDigest(head)
        // No request of libcurl's asks for another protocol (RFC 9110 §15.2.2): what follows is not HTTP.
        if status == 101, takeover == nil {
            return refuse(
                "the server switches to another protocol without being asked (status 101)",
                advice: "the server, or a proxy before it, is broken: ask its operator")
        }
        if endsWithConnection(head) { heads.tlsEnding = easy?.tlsEnding }
        if let fault = heads.facts.fault {
            return refuse(
                "the response cannot be trusted: \(fault)",
                advice: "the server, or a proxy before it, is broken or hostile")
        }
        // libcurl sends no more of the body then, and ends once that is not held back.
        if head.isRefusal, body.isPaused, let turn = easy?.turn { turn.resume(self, at: turn.clock.now) }
        // libcurl may be about to answer this itself: it is a response when its content comes, or the end.
        if isAnswered(head) { return true }
        return openSink(head)
    }

    func openSink(_ head: SessionResponse) -> Bool {
        guard let delegate else { return false }
        do throws(SessionError) {
            let target = try delegate.transfer(self, received: head)
            let isDecoded =
                heads.facts.isEncoded && options.decompressesContent && hasContent(head)
                && !(target is DiscardingSink)
            do throws(SessionError) {
                try open(target, isDecoded ? heads.facts.codings : [])
            } catch {
                // The content of a refusal that is encoded in an unknown way must not hide its status.
                guard head.isRefusal, error.code == .cannotDecodeRawData else { throw error }
                try open(target, [])
            }
            try content.sink?.begin(length: heads.facts.length)
            return true
        } catch {
            _ = abort(error)
            return false
        }
    }

    /// Whether there is content to decode: a coding may be named without (RFC 9110 §8.4, §9.3.2, §15.4.5).
    func hasContent(_ head: SessionResponse) -> Bool {
        request.method != .head && head.statusCode != 204 && head.statusCode != 304
            && heads.facts.length != 0
    }

    /// Whether only the connection's end ends content that counts: no redirect's, no refusal's (RFC 9112 §6).
    private func endsWithConnection(_ head: SessionResponse) -> Bool {
        guard head.version == .http1_1 || head.version == .http1_0, hasContent(head),
            StatusCodes.successful.contains(head.statusCode ?? 0)
        else { return false }
        return heads.facts.length == nil && !heads.facts.isChunked
    }

    /// A head of the proxy's about the tunnel (RFC 9110 §9.3.6); false where the transfer is to end.
    func received(tunnelHead bytes: UnsafeRawBufferPointer) -> Bool {
        guard let (version, status, fields) = parts(of: bytes, sentBy: "proxy") else { return false }
        guard status >= 300 else {
            heads.tunnelRefusal = nil
            heads.tunnelledConnects = easy?.long(CURLINFO_NUM_CONNECTS) ?? 0
            return true
        }
        let refusal = SessionResponse(
            url: request.url, statusCode: status, version: version, headerBlock: [UInt8](fields),
            requestMethod: .connect)
        heads.tunnelRefusal = refusal
        recordDigest(refusal)
        guard status == 407, credentials?.isProxy == true else { return true }
        return mayAnswerAgain()
    }

    private func recordDigest(_ head: SessionResponse) {
        if HTTPChallenge.asksForDigest(head) { easy?.keepsServerState = true }
    }

    /// A status 417 has come: whether it means the expectation alone, and the request is sent again without.
    ///
    /// libcurl would do that by itself, but sends a field that a program has set again, and hands over its
    /// second answer behind this one.
    func losesExpectation() -> Bool {
        guard easy != nil, heads.expectation == .asWanted, SentFields(request).expectsContinue,
            body.sent == 0 || request.body?.isRewindable == true
        else { return false }
        heads.expectation = .refused
        return true
    }

    /// Begins anew after such a refusal; false without one.
    func beginsWithoutExpectation() -> Bool {
        guard heads.expectation == .refused else { return false }
        heads.expectation = .left
        stay()
        return true
    }

    /// The first line and the fields; nil, and the end of the transfer, where the head was too long.
    private func parts(
        of bytes: UnsafeRawBufferPointer, sentBy sender: String
    ) -> (HTTPVersion?, Int, UnsafeRawBufferPointer)? {
        guard !bytes.isEmpty else {
            _ = refuse(
                "the \(sender) sends more than 256 KiB of header fields or trailers",
                advice: "the \(sender) is broken or hostile")
            return nil
        }
        let first = Self.lineEnd(bytes, from: 0)
        let (version, status) = StatusLine.parse(UnsafeRawBufferPointer(rebasing: bytes[..<first]))
        return (version, status, UnsafeRawBufferPointer(rebasing: bytes[first...]))
    }

    /// Where the line after this one begins.
    fileprivate static func lineEnd(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        guard let base = bytes.baseAddress, start < bytes.count,
            let end = memchr(base + start, 0x0A, bytes.count - start)
        else { return bytes.count }
        return UnsafeRawPointer(end) - base + 1
    }

    private func refuse(_ sentence: String, advice: String) -> Bool {
        _ = abort(
            SessionError(
                .badServerResponse, sentence, advice: advice, failingURL: request.url, response: response))
        return false
    }
}

// Responses that need not be the last, or that libcurl answers by itself.
extension Transfer {
    /// Whether libcurl may be about to answer a response itself.
    func isAnswered(_ response: SessionResponse?) -> Bool {
        credentials != nil && (response?.statusCode == 401 || response?.statusCode == 407)
    }

    /// Whether libcurl may answer one more challenge itself.
    func mayAnswerAgain() -> Bool { credentials.map { heads.rounds.mayAnswer($0.scheme) } ?? true }

    /// Whether libcurl has answered so many challenges that the last one is the response.
    var hasSpentRounds: Bool { heads.rounds.isSpent }

    /// Whether only the rest of the body could not be sent: the server has answered, and does not read it.
    func isAnsweredEarly(_ code: CURLcode) -> Bool {
        guard code == CURLE_SEND_ERROR, let response, !isAnswered(response) else { return false }
        return !hasContent(response) || content.isWhole(heads.facts.length)
    }
}

extension SessionResponse {
    /// Whether its status is that of an error (RFC 9110 §15.5, §15.6).
    var isRefusal: Bool { (statusCode ?? 0) >= 400 }
}

extension ResponseHeadInfo {
    /// Reads the lines of the fields.
    init(_ lines: UnsafeRawBufferPointer) {
        var start = 0
        while start < lines.count {
            let end = Transfer.lineEnd(lines, from: start)
            record(UnsafeRawBufferPointer(rebasing: lines[start..<end]))
            start = end
        }
    }
}

/// The first line of a response, as libcurl delivers it: `HTTP/1.1 200 OK`, `HTTP/2 200`.
private enum StatusLine {
    static func parse(_ line: UnsafeRawBufferPointer) -> (version: HTTPVersion?, status: Int) {
        // The name is case-sensitive (RFC 9112 §2.3).
        guard line.count > 8, let base = line.baseAddress, memcmp(base, "HTTP/", 5) == 0,
            let found = memchr(base, 0x20, line.count)
        else { return (nil, 0) }
        let space = UnsafeRawPointer(found) - base
        var status = 0
        for byte in line[(space + 1)...].prefix(3) {
            guard (0x30...0x39).contains(byte) else { return (nil, 0) }
            status = status * 10 + Int(byte - 0x30)
        }
        let version: HTTPVersion? =
            switch (line[5], space) {
            case (0x31, 8): line[7] == 0x30 ? .http1_0 : .http1_1
            case (0x32, _): .http2
            case (0x33, _): .http3
            default: nil
            }
        return (version, status)
    }
}
