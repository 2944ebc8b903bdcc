// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Fields of a caller's that belong to the connection or to the framing.
struct SentFieldTests {
    /// The field lines that have arrived, by their names in lower case.
    private func arrived(
        _ method: HTTPRequest.Method, _ fields: [(String, String)], body: RequestBody? = nil,
        _ change: (inout SessionRequest) -> Void = { _ in }
    ) async throws -> [String: [String]] {
        let lab = try await Lab()
        var request = try lab.request("/raw-headers", method, at: .direct, body: body)
        for (name, value) in fields {
            request.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        change(&request)
        let (content, response) = try await lab.manager.data(for: request)
        #expect(response.statusCode == 200)
        var found: [String: [String]] = [:]
        for line in String(decoding: content, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            found[parts[0].lowercased(), default: []].append(
                String(parts[1].drop { $0 == " " }))
        }
        return found
    }

    @Test(
        "FLD-066 a body that is to be sent in chunks has a last chunk and no length, an empty one too",
        arguments: ["", "hello"])
    func chunked(_ text: String) async throws {
        let lab = try await Lab()
        var request = try lab.request("/upload", .post, at: .direct, body: .data(Data(text.utf8)))
        request.headerFields[.transferEncoding] = "chunked"
        request.headerFields[.contentLength] = "3"
        let end = try await lab.run(request)
        let json = "\(try #require(end.json, "\(String(describing: end.error))"))"
        #expect(end.error == nil)
        guard case .object(let reported)? = end.json else { return }
        #expect(reported["chunked"] == .bool(true), "\(json)")
        #expect(reported["count"]?.int == text.utf8.count, "\(json)")
        let fields = try await arrived(
            .post, [("Transfer-Encoding", "chunked")], body: .data(Data(text.utf8)))
        #expect(fields["transfer-encoding"] == ["chunked"])
        #expect(fields["content-length"] == nil)
    }

    @Test(
        "FLD-066 without a body nothing frames one",
        arguments: [HTTPRequest.Method.get, .put, .post, .delete])
    func bare(_ method: HTTPRequest.Method) async throws {
        let fields = try await arrived(
            method,
            [
                ("Transfer-Encoding", "chunked"), ("Content-Length", "5"), ("Trailer", "X-Sum"),
                ("Expect", "100-continue"),
            ])
        #expect(fields["transfer-encoding"] == nil)
        #expect(fields["content-length"] == (method == .put || method == .post ? ["0"] : nil))
        #expect(fields["trailer"] == nil && fields["expect"] == nil)
    }

    @Test("FLD-066 codings that are not applied are not named, and a length that is left out is sent")
    func codings() async throws {
        let body = RequestBody.data(Data("hello".utf8))
        let fields = try await arrived(.post, [("Transfer-Encoding", "gzip"), ("TE", "gzip")], body: body) {
            $0.options.omittedFields = [.contentLength, .transferEncoding, HTTPField.Name("Host")].compactMap(
                \.self)
        }
        #expect(fields["transfer-encoding"] == nil && fields["te"] == nil)
        #expect(fields["content-length"] == ["5"])
        #expect(fields["host"]?.count == 1)
        let chunked = try await arrived(.post, [("Transfer-Encoding", "gzip, chunked")], body: body)
        #expect(chunked["transfer-encoding"] == ["chunked"] && chunked["content-length"] == nil)
        let old = try await arrived(.post, [("Transfer-Encoding", "chunked")], body: body) {
            $0.options.maximumHTTPVersion = .http1_0
        }
        #expect(old["transfer-encoding"] == nil && old["content-length"] == ["5"])
    }

    @Test("FLD-066 what holds for the connection is named there")
    func connection() async throws {
        let fields = try await arrived(
            .get, [("TE", "trailers"), ("Connection", "close"), ("Host", "other.test")])
        #expect(fields["te"] == ["trailers"])
        #expect(fields["connection"] == ["close, TE"])
        #expect(fields["host"] == ["other.test"])
        let upgrade = try await arrived(.get, [("Upgrade", "example/1"), ("Connection", "upgrade")])
        #expect(upgrade["connection"] == ["upgrade"] && upgrade["upgrade"] == ["example/1"])
        let expecting = try await arrived(
            .post, [("Expect", "100-continue")], body: .data(Data("hello".utf8)))
        #expect(expecting["expect"] == ["100-continue"])
    }

    @Test("API-599 a part is asked for without a coding: ranges count encoded bytes (RFC 9110 §14.2)")
    func ranges() async throws {
        let range = ("Range", "bytes=0-4")
        #expect(try await arrived(.get, [range])["accept-encoding"] == ["identity"])
        #expect(try await arrived(.get, [range, ("Accept-Encoding", "br")])["accept-encoding"] == ["br"])
        let omitted = try await arrived(.get, [range]) { $0.options.omittedFields = [.acceptEncoding] }
        #expect(omitted["accept-encoding"] == nil)
        #expect(try await arrived(.get, [])["accept-encoding"]?.first?.contains("gzip") == true)
    }
}
