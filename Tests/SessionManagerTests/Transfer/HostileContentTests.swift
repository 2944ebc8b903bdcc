// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Content that is too much, packed in strange ways or comes with a wrong length.
struct HostileContentTests {
    @Test(
        "more content than allowed is an error, packed or not",
        arguments: [
            "endless?chunked=1", "endless?chunked=0", "gzip-bomb?n=1073741824",
            "gzip-bomb?n=1073741824&layers=2",
        ])
    func bombs(_ path: String) async throws {
        let end = try await Lab.outcome(ofFault: path)
        #expect([.dataLengthExceedsMaximum, .cannotDecodeRawData].contains(end.error?.code), "\(end)")
    }

    @Test(
        "packed content that is broken, cut off or packed in an unknown way is an error",
        arguments: [
            "bad-gzip", "wrong-sum-gzip", "truncated-gzip", "halved-gzip", "truncated-deflate",
            "short-deflate",
            "truncated-brotli", "unknown-encoding", "ten-encodings",
        ], [false, true])
    func packed(_ path: String, _ isDownload: Bool) async throws {
        guard isDownload else {
            return #expect(try await Lab.outcome(ofFault: path).error?.code == .cannotDecodeRawData)
        }
        let (lab, folder) = (try await Lab(), try ScratchFolder())
        try Data("old".utf8).write(to: URL(filePath: folder("file")))
        var options = TaskOptions()
        options.partialFile = folder("part")
        await #expect {
            try await lab.manager.download(
                SessionRequest(lab.origin.faultURL("/fault/\(path)")),
                to: DownloadDestination(folder("file"), replacesExisting: true), options: options)
        } throws: {
            ($0 as? SessionError)?.code == .cannotDecodeRawData
        }
        #expect(folder.names == ["file"])
        #expect(try Data(contentsOf: URL(filePath: folder("file"))) == Data("old".utf8))
    }

    @Test(
        "packed content of nothing, of several members, and with something behind it",
        arguments: [("empty-gzip", 0), ("two-members", 200), ("gzip-and-more", 100), ("packed-twice", 100)])
    func unusuallyPacked(_ path: String, _ count: Int) async throws {
        let lab = try await Lab()
        let task = try lab.manager.dataTask(with: SessionRequest(lab.origin.faultURL("/fault/\(path)")))
        task.resume()
        let end = await task.outcome()
        let content = Data(String(repeating: #"{"key":"value"}"#, count: count).utf8)
        #expect(end.error == nil)
        #expect(end.data == content)
        #expect(task.downloadProgress.completedBytes == content.count)
    }

    @Test(
        "a length beside chunks says nothing",
        arguments: [("length-and-chunked", 3), ("no-length-and-chunked", 1500)])
    func lengthBesideChunks(_ path: String, _ count: Int) async throws {
        let lab = try await Lab()
        let task = try lab.manager.downloadTask(
            with: SessionRequest(lab.origin.faultURL("/fault/\(path)")))
        task.resume()
        let end = await task.outcome()
        #expect(end.error == nil && end.response?.contentLength == nil)
        let content = try Data(contentsOf: URL(filePath: #require(end.filePath)))
        try FileManager.default.removeItem(atPath: #require(end.filePath))
        #expect(content.count == count && (content.first == 0x61 || content.first == 0x7B))
        #expect(task.downloadProgress.completedBytes == count)
        #expect(task.downloadProgress.totalBytes.map { $0 == count } ?? true)
    }

    @Test(
        "an encoding that is unknown here does not matter where nothing is encoded: after HEAD, with 304, without content",
        arguments: [
            ("/body?h=Content-Encoding:zstd&text=x", HTTPRequest.Method.head),
            ("/cache/x?h=Content-Encoding:zstd", .get), ("/body?h=Content-Encoding:zstd&status=204", .get),
            ("/body?h=Content-Encoding:zstd", .put), ("/body?h=Content-Encoding:gzip&text=x", .head),
        ])
    func nothingEncoded(_ path: String, _ method: HTTPRequest.Method) async throws {
        let lab = try await Lab()
        var request = try lab.request(path, method, at: .direct)
        request.headerFields[.ifNoneMatch] = "\"x-1\""
        let task = try lab.manager.dataTask(with: request)
        task.resume()
        let end = await task.outcome()
        #expect(end.error == nil)
        #expect(end.data == Data())
        #expect(end.response?.value(forHeader: "content-encoding") != nil)
    }

    @Test("content is written to files alone: a device stays where it is")
    func device() async throws {
        let lab = try await Lab()
        var options = TaskOptions()
        options.partialFile = "/dev/null"
        await #expect {
            try await lab.manager.download(
                lab.request("/bytes/10"), to: DownloadDestination("/tmp/x"), options: options)
        } throws: {
            ($0 as? SessionError)?.code == .cannotCreateFile
        }
        var status = stat()
        #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
    }

    @Test("a directory that may not be written is named in the error")
    func unwritable() async throws {
        let lab = try await Lab()
        var options = TaskOptions()
        options.partialFile = "/proc/reach-cannot-write-here"
        await #expect {
            try await lab.manager.download(
                lab.request("/bytes/10"), to: DownloadDestination("/tmp/x"), options: options)
        } throws: {
            ($0 as? SessionError)?.code == .cannotCreateFile
        }
    }
}
