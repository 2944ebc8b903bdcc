// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing

struct SessionErrorTests {
    @Test(
        "what is said of an error names the URL without user and password",
        arguments: [
            ("http://host/p?q=1#f", "http://host/p?q=1#f"),
            ("https://me:secret@host:8443/p?a@b", "https://host:8443/p?a@b"),
            ("http://me@host/", "http://host/"), ("http://:secret@host/", "http://host/"),
            ("http://me:secret@[2001:db8::1]/", "http://[2001:db8::1]/"),
            ("http://me%40home:se%2Fcret@host", "http://host"),
        ])
    func description(_ address: String, _ shown: String) throws {
        let url = try #require(URL(string: address))
        let error = SessionError(.timedOut, "late", advice: "wait", failingURL: url)
        #expect("\(error)" == "late (\(shown)); wait")
        #expect(error.failingURL == url)
    }

    @Test(
        "an answer that is no HTTP at all is the server's fault and not the URL's",
        arguments: [
            "Received HTTP/0.9 when not allowed", "Unsupported HTTP version in response",
            "Unsupported HTTP version (3.7) in response", "Unsupported response code in HTTP response",
        ])
    func strangeAnswer(_ message: String) {
        let error = SessionError(transport: TransportFailure(curlCode: 1, message: message))
        #expect(error.code == .badServerResponse)
        #expect(error.message.contains("no HTTP that can be used"))
        let other = SessionError(
            transport: TransportFailure(curlCode: 1, message: "Protocol \"https\" not supported"))
        #expect(other.code == .unsupportedURL)
    }

    @Test("a pinned policy's complaint about a base URL does not tell its password")
    func baseURL() throws {
        let url = try #require(URL(string: "http://me:secret@host/"))
        let policy = SecurityPolicy(pinningMode: .publicKey)
        #expect {
            try policy.validate(forBaseURL: url)
        } throws: {
            let text = ($0 as? SessionError)?.description ?? ""
            return text.contains("http://host/") && !text.contains("secret")
        }
    }
}
