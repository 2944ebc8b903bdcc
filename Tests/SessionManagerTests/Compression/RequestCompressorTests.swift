// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

struct RequestCompressorTests {
    private func adapt(_ request: SessionRequest, _ compressor: RequestCompressor) async throws
        -> SessionRequest
    {
        try await compressor.adapt(
            request, state: RequestState(identifier: 1, date: Date(), instant: ContinuousClock.now))
    }

    private func request(_ encoding: String? = nil) throws -> SessionRequest {
        var request = try SessionRequest("http://h/", method: .post, body: .data(Data("body".utf8)))
        request.headerFields[.contentEncoding] = encoding
        return request
    }

    private func bytes(_ request: SessionRequest) -> Data? {
        guard case .data(let data) = request.body else { return nil }
        return data
    }

    @Test("what is not worth it leaves as it is, where a rule says what that is")
    func worthwhile() async throws {
        let compressor = RequestCompressor(shouldCompress: { $0.count > 4 })
        let small = try await adapt(request(), compressor)
        #expect(bytes(small) == Data("body".utf8))
        #expect(small.headerFields[.contentEncoding] == nil)
        var longer = try request()
        longer.body = .data(Data("bodies".utf8))
        let big = try await adapt(longer, compressor)
        #expect(bytes(big) != Data("bodies".utf8))
        #expect(big.headerFields[.contentEncoding] == "gzip")
    }

    @Test("bodies arrive compressed and are what they were", arguments: ContentCompression.allCases)
    func wire(_ compression: ContentCompression) async throws {
        let lab = try await Lab()
        let body = Data(OriginContent.bytes(0..<200_000))
        let plain = try await lab.run(lab.request("/upload", .post, at: .direct, body: .data(body)))
        lab.manager.interceptor = RequestCompressor(compression)
        let end = try await lab.run(lab.request("/upload", .post, at: .direct, body: .data(body)))
        #expect(end.json?["contentEncoding"] == .string(compression.rawValue))
        #expect(end.json?["decodedCount"] == 200_000)
        #expect(end.json?["decodedSHA256"] == plain.json?["sha256"])
        #expect(try #require(end.json?["count"]?.int) < 100_000)
        #expect(end.json?["chunked"] == false)
    }

    @Test("both formats have their own first bytes; all levels are taken")
    func formats() throws {
        let data = Data(repeating: 65, count: 1000)
        #expect(try Array(ContentCompression.gzip.compress(data).prefix(3)) == [0x1F, 0x8B, 8])
        #expect(try ContentCompression.deflate.compress(data).first == 0x78)
        for level in [-5, 1, 9, 100] {
            #expect(try ContentCompression.gzip.compress(data, level: level).count < 100)
        }
        #expect(try !ContentCompression.deflate.compress(Data()).isEmpty)
    }

    @Test("a Content-Encoding that is there is an error, is replaced, or keeps the request as it is")
    func existing() async throws {
        await #expect { try await adapt(request("br"), RequestCompressor()) } throws: {
            ($0 as? SessionError)?.code == .invalidHeaderField
        }
        let replaced = try await adapt(request("br"), RequestCompressor(existingField: .replace))
        #expect(replaced.headerFields[values: .contentEncoding] == ["gzip"])
        #expect(bytes(replaced) != Data("body".utf8))
        let skipped = try await adapt(request("br"), RequestCompressor(existingField: .skip))
        #expect(skipped.headerFields[.contentEncoding] == "br")
        #expect(bytes(skipped) == Data("body".utf8))
    }

    @Test("bodies that are not wanted, files, streams and requests without a body stay as they are")
    func untouched() async throws {
        let small = try await adapt(request(), RequestCompressor { $0.count > 4 })
        #expect(bytes(small) == Data("body".utf8))
        #expect(small.headerFields[.contentEncoding] == nil)
        #expect(bytes(try await adapt(request(), RequestCompressor { $0.count == 4 })) != Data("body".utf8))
        for body: RequestBody? in [nil, .data(Data()), .file(path: "/f"), .stream(OnceSource("once"))] {
            var request = try request("br")
            request.body = body
            let same = try await adapt(request, RequestCompressor())
            #expect(same.headerFields[.contentEncoding] == "br")
            #expect(bytes(same) == bytes(request))
        }
    }
}
