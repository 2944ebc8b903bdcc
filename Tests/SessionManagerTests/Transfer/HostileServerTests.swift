// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Heads, lengths and redirects of any kind: one completion, a clear error or a response, bounded memory.
struct HostileServerTests {
    @Test(
        "a head without an end, or half a one, is an error",
        arguments: [
            "half-a-head", "header-bomb?bytes=10000000", "many-headers?n=100000", "long-header?n=1048576",
        ])
    func heads(_ path: String) async throws {
        #expect(try await Lab.outcome(ofFault: path).error != nil)
    }

    @Test(
        "what is too long of heads is the server's fault, no lack of memory and no lost connection",
        arguments: ["long-header?n=1048576", "long-header?n=110000", "storm?n=100000&code=103"])
    func longHeads(_ path: String) async throws {
        let error = try #require(try await Lab.outcome(ofFault: path).error)
        #expect(error.code == .badServerResponse && error.advice.contains("hostile"), "\(error)")
    }

    @Test(
        "lengths that lie or contradict each other are errors",
        arguments: [
            "negative-length", "text-length", "conflicting-length", "hexadecimal-length", "huge-length",
        ])
    func lengths(_ path: String) async throws {
        #expect(try await Lab.outcome(ofFault: path).error?.code == .badServerResponse)
    }

    @Test(
        "broken chunks are errors", arguments: ["bad-chunk-size", "negative-chunk-size", "huge-chunk-size"])
    func chunks(_ path: String) async throws {
        #expect(try await Lab.outcome(ofFault: path).error != nil)
    }

    @Test("a redirect to what is no UTF-8 leads to those bytes")
    func latinLocation() async throws {
        let lab = try await Lab()
        let end = try await lab.run(SessionRequest(lab.origin.faultURL("/fault/latin-location")))
        #expect(end.response?.url.absoluteString.hasSuffix("/anything/gr%FC%DFe?k=%E9") == true)
    }

    @Test(
        "FLD-067 a status line whose name is in small letters is no HTTP, and nothing of this machine's files",
        arguments: ["small-version", "mixed-version"])
    func smallVersion(_ path: String) async throws {
        #expect(try await Lab.outcome(ofFault: path).error?.code == .badServerResponse)
    }

    @Test("FLD-071 another protocol that was not asked for is the server's fault")
    func unaskedUpgrade() async throws {
        let error = try #require(try await Lab.outcome(ofFault: "unasked-upgrade").error)
        #expect(error.code == .badServerResponse && error.response?.statusCode == 101)
    }

    @Test(
        "control bytes in header fields reach no caller",
        arguments: [
            "nul-in-header", "control-in-header", "invalid-utf8-header", "bare-cr", "header-without-colon",
            "header-without-name", "folded-header",
        ])
    func fields(_ path: String) async throws {
        let end = try await Lab.outcome(ofFault: path)
        for field in end.response?.headerFields ?? [:] {
            #expect(!field.value.utf8.contains { $0 == 0 || $0 == 0x0D || $0 == 0x0A })
        }
        #expect(end.error != nil || end.response?.statusCode == 200)
    }

    @Test("API-594 a folded line continues the field before it (RFC 9112 §5.2)")
    func foldedFields() async throws {
        let fields = try await Lab.outcome(ofFault: "folded-fields").response
        func members(_ name: String) -> [String]? {
            fields?.value(forHeader: name)?.split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)
        }
        #expect(members("cache-control") == ["max-age=60", "no-store"])
        #expect(members("vary") == ["X-A", "X-B"] && members("x-empty") == [])
        let coded = try await Lab.outcome(ofFault: "folded-coding")
        #expect(coded.error == nil && coded.data?.starts(with: Data(#"{"key":"value"}"#.utf8)) == true)
        let moved = try await Lab.outcome(ofFault: "folded-location")
        #expect(
            moved.error == nil && moved.response?.url.path() == "/get", "\(String(describing: moved.error))")
    }

    @Test(
        "API-594 folded lines that libcurl frames the content by in another way are errors",
        arguments: [
            "folded-chunked", "folded-more-coding", "folded-length", "folded-more-length",
        ])
    func foldedFraming(_ path: String) async throws {
        let end = try await Lab.outcome(ofFault: path)
        #expect(end.error?.code == .badServerResponse, "\(end)")
    }

    @Test(
        "what is no HTTP is an error",
        arguments: ["garbage", "http-0.9", "garbage-version", "garbage-status"])
    func noHTTP(_ path: String) async throws {
        #expect(try await Lab.outcome(ofFault: path).error != nil)
    }

    @Test(
        "an unknown version or status is the server's fault",
        arguments: ["future-version", "low-status"])
    func strangeStatusLine(_ path: String) async throws {
        let error = try #require(try await Lab.outcome(ofFault: path).error)
        #expect(error.code == .badServerResponse && !error.description.contains("use http or https"))
    }

    @Test(
        "redirects nowhere, in a circle, or to other schemes",
        arguments: [
            "garbage-location", "file-location", "ftp-location", "javascript-location", "two-locations",
        ])
    func redirects(_ path: String) async throws {
        #expect(try await Lab.outcome(ofFault: path).error != nil)
    }

    @Test("a redirect to itself ends with the limit")
    func loop() async throws {
        let lab = try await Lab()
        #expect(try await lab.run(lab.request("/loop?n=100000")).error?.code == .tooManyRedirects)
    }

    @Test("interim responses announce the one that counts")
    func interim() async throws {
        let end = try await Lab.outcome(ofFault: "storm?n=100&code=103")
        #expect(end.response?.statusCode == 200)
        #expect(end.error == nil)
    }
}
