// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// What servers say of codings.
struct RefusalContentTests {
    @Test(
        "FLD-072 a coding that is none is none",
        arguments: ["none", "None", "identity", "", "identity, none", ","])
    func none(_ coding: String) async throws {
        let lab = try await Lab()
        let field = coding.isEmpty ? "" : coding.split(separator: " ").joined(separator: "%20")
        let request = try lab.request(
            "/body?type=text/plain&text=hello&h=Content-Encoding:\(field)", at: .direct)
        let (content, _) = try await lab.manager.data(for: request)
        #expect(String(decoding: content, as: UTF8.self) == "hello")
        let folder = try ScratchFolder()
        _ = try await lab.manager.download(request, to: DownloadDestination(folder("file")))
        #expect(folder.names == ["file"])
    }

    @Test(
        "FLD-093 nor is a character set, a transfer encoding of MIME, or the framing of an upload",
        arguments: ["utf-8", "UTF8", "binary", "8bit", "aws-chunked", "aws-chunked, identity"])
    func misused(_ coding: String) async throws { try await none(coding) }

    @Test(
        "FLD-072 a refusal whose content cannot be decoded is the refusal all the same",
        arguments: ["zebra", "gzip", "br", "gzip, gzip, gzip, gzip, gzip, gzip"], [404, 500])
    func refusal(_ coding: String, _ status: Int) async throws {
        let lab = try await Lab()
        let field = coding.split(separator: " ").joined(separator: "%20")
        let request = try lab.request(
            "/body?status=\(status)&type=text/plain&text=gone&h=Content-Encoding:\(field)", at: .direct)
        #expect(try await lab.manager.data(for: request).1.statusCode == status)
        let end = try await lab.run(request)
        #expect(end.error?.code == .badServerResponse && end.response?.statusCode == status)
        let task = try lab.manager.downloadTask(with: request)
        task.resume()
        #expect(await task.outcome().error?.code == .badServerResponse)
    }

    @Test("FLD-072 content that is wanted and cannot be decoded is an error as before")
    func wanted() async throws {
        let lab = try await Lab()
        let request = try lab.request(
            "/body?type=text/plain&text=hello&h=Content-Encoding:zebra", at: .direct)
        await #expect { try await lab.manager.data(for: request) } throws: {
            ($0 as? SessionError)?.code == .cannotDecodeRawData
        }
    }
}
