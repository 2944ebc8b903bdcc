// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Whatever a server does: one completion, a clear error or a response, bounded memory.
struct HostileServerTests {
    private func outcome(
        _ path: String, _ change: (inout SessionRequest) -> Void = { _ in }
    ) async throws -> TaskOutcome {
        let lab = try await Lab { $0.maximumContentLengthInMemory = 1 << 20 }
        var request = try SessionRequest(lab.origin.faultURL("/fault/\(path)"))
        request.options.timeoutInterval = .seconds(30)
        change(&request)
        let task = try lab.manager.dataTask(with: request)
        task.resume()
        return await task.outcome()
    }

    @Test(
        "a connection that ends too early is a lost connection",
        arguments: [
            "cut?after=1000&kind=rst", "cut?after=1000&kind=close", "cut?after=1000&kind=close&chunked=1",
            "cut-head?after=20&kind=close", "cut-head?after=20&kind=rst", "truncated-chunk", "no-last-chunk",
            "empty",
            "long-length", "flaky?times=9&kind=rst&key=hostile-flaky",
        ])
    func cut(_ path: String) async throws {
        let end = try await outcome(path)
        let code = try #require(end.error?.code)
        #expect([.networkConnectionLost, .badServerResponse].contains(code), "\(end)")
        #expect(end.error?.description.isEmpty == false)
    }

    @Test(
        "a head without an end, or half a one, is an error",
        arguments: [
            "half-a-head", "header-bomb?bytes=10000000", "many-headers?n=100000", "long-header?n=1048576",
        ])
    func heads(_ path: String) async throws {
        #expect(try await outcome(path).error != nil)
    }

    @Test(
        "what is too long of heads is the server's fault, no lack of memory and no lost connection",
        arguments: ["long-header?n=1048576", "long-header?n=110000", "storm?n=100000&code=103"])
    func longHeads(_ path: String) async throws {
        let error = try #require(try await outcome(path).error)
        #expect(error.code == .badServerResponse && error.advice.contains("hostile"), "\(error)")
    }

    @Test(
        "lengths that lie or contradict each other are errors",
        arguments: [
            "negative-length", "text-length", "conflicting-length", "hexadecimal-length", "huge-length",
        ])
    func lengths(_ path: String) async throws {
        #expect(try await outcome(path).error?.code == .badServerResponse)
    }

    @Test(
        "broken chunks are errors", arguments: ["bad-chunk-size", "negative-chunk-size", "huge-chunk-size"])
    func chunks(_ path: String) async throws {
        #expect(try await outcome(path).error != nil)
    }

    @Test(
        "more content than allowed is an error, packed or not",
        arguments: [
            "endless?chunked=1", "endless?chunked=0", "gzip-bomb?n=1073741824",
            "gzip-bomb?n=1073741824&layers=2",
        ])
    func bombs(_ path: String) async throws {
        let end = try await outcome(path)
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
            return #expect(try await outcome(path).error?.code == .cannotDecodeRawData)
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

    @Test("a redirect to what is no UTF-8 leads to those bytes")
    func latinLocation() async throws {
        let lab = try await Lab()
        let end = try await lab.run(SessionRequest(lab.origin.faultURL("/fault/latin-location")))
        #expect(end.response?.url.absoluteString.hasSuffix("/anything/gr%FC%DFe?k=%E9") == true)
    }

    @Test(
        "an encoding that is unknown here is no matter where nothing is encoded: after HEAD, with 304, without content",
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

    @Test("trailers are no second head, with content and without")
    func trailers() async throws {
        struct Heads: SessionDelegate {
            let seen = Diary<Int>()
            func task(_ task: SessionTask, didReceive response: SessionResponse) async -> ResponseDisposition
            {
                seen.record(response.statusCode ?? 0)
                return .allow
            }
        }
        for (path, text) in [("trailers", "hello"), ("empty-with-trailers", "")] {
            let lab = try await Lab()
            let heads = Heads()
            lab.manager.delegate = heads
            let task = try lab.manager.dataTask(
                with: SessionRequest(lab.origin.faultURL("/fault/\(path)")))
            task.resume()
            let end = await task.outcome()
            #expect(end.error == nil)
            #expect(end.data == Data(text.utf8))
            #expect(end.response?.statusCode == 200)
            #expect(end.response?.value(forHeader: "content-type") == "text/plain")
            #expect(end.response?.value(forHeader: "x-trailer") == nil)
            #expect(heads.seen.all == [200])
        }
    }

    @Test(
        "FLD-058 trailers that are no header fields are the server's fault, whatever becomes of the content",
        arguments: ["trailer-without-colon", "nul-in-trailer"])
    func brokenTrailers(_ path: String) async throws {
        struct Delegate: SessionDelegate {}
        let lab = try await Lab()
        let request = try SessionRequest(lab.origin.faultURL("/fault/\(path)"))
        for hasDelegate in [false, true] {
            lab.manager.delegate = hasDelegate ? Delegate() : nil
            for task in [
                try lab.manager.dataTask(with: request), try lab.manager.downloadTask(with: request),
            ] {
                task.resume()
                let end = await task.outcome()
                #expect(end.error?.code == .badServerResponse && end.filePath == nil, "\(end)")
            }
            await #expect {
                let (_, content) = try await lab.manager.stream(for: request)
                for try await _ in content {}
            } throws: {
                ($0 as? SessionError)?.code == .badServerResponse
            }
        }
    }

    @Test("FLD-058 a trailer that looks like a head is none")
    func trailerLikeAHead() async throws {
        let end = try await outcome("trailer-like-a-head")
        #expect(
            end.error == nil && end.response?.statusCode == 200 && end.data == Data("hello".utf8), "\(end)")
    }

    @Test(
        "FLD-067 a status line whose name is in small letters is no HTTP, and nothing of this machine's files",
        arguments: ["small-version", "mixed-version"])
    func smallVersion(_ path: String) async throws {
        #expect(try await outcome(path).error?.code == .badServerResponse)
    }

    @Test("FLD-071 another protocol that nobody has asked for is the server's fault")
    func unaskedUpgrade() async throws {
        let error = try #require(try await outcome("unasked-upgrade").error)
        #expect(error.code == .badServerResponse && error.response?.statusCode == 101)
    }

    @Test(
        "control bytes in header fields reach nobody",
        arguments: [
            "nul-in-header", "control-in-header", "invalid-utf8-header", "bare-cr", "header-without-colon",
            "header-without-name", "folded-header",
        ])
    func fields(_ path: String) async throws {
        let end = try await outcome(path)
        for field in end.response?.headerFields ?? [:] {
            #expect(!field.value.utf8.contains { $0 == 0 || $0 == 0x0D || $0 == 0x0A })
        }
        #expect(end.error != nil || end.response?.statusCode == 200)
    }

    @Test(
        "what is no HTTP is an error",
        arguments: ["garbage", "http-0.9", "garbage-version", "garbage-status"])
    func noHTTP(_ path: String) async throws {
        #expect(try await outcome(path).error != nil)
    }

    @Test(
        "a version or a status that nobody knows is the server's fault",
        arguments: ["future-version", "low-status"])
    func strangeStatusLine(_ path: String) async throws {
        let error = try #require(try await outcome(path).error)
        #expect(error.code == .badServerResponse && !error.description.contains("use http or https"))
    }

    @Test(
        "redirects nowhere, in a circle, or to other schemes",
        arguments: [
            "garbage-location", "file-location", "ftp-location", "javascript-location", "two-locations",
        ])
    func redirects(_ path: String) async throws {
        #expect(try await outcome(path).error != nil)
    }

    @Test("a redirect to itself ends with the limit")
    func loop() async throws {
        let lab = try await Lab()
        #expect(try await lab.run(lab.request("/loop?n=100000")).error?.code == .tooManyRedirects)
    }

    @Test(
        "an upload of what is no file fails before anything is sent",
        arguments: [
            "missing", "directory",
        ])
    func bodies(_ kind: String) async throws {
        let folder = try ScratchFolder()
        let end = try await outcome("early?status=200") { request in
            request.method = .post
            request.body = .file(path: kind == "missing" ? folder("missing") : folder.path)
        }
        #expect(end.error?.code == .fileDoesNotExist)
    }

    @Test("an answer before the body was read is the answer")
    func early() async throws {
        let end = try await outcome("early?status=413&keep=0") { request in
            request.method = .post
            request.body = .data(Data(count: 4 << 20))
        }
        #expect(end.response?.statusCode == 413 || end.error?.code == .networkConnectionLost)
    }

    @Test("a kept connection that dies as it is used again is replaced, not reported")
    func reuse() async throws {
        let lab = try await Lab()
        let request = try SessionRequest(lab.origin.faultURL("/fault/close-on-reuse?key=reuse-\(#line)"))
        for _ in 0..<3 {
            let task = try lab.manager.dataTask(with: request)
            task.resume()
            #expect(await task.outcome().error == nil)
        }
    }

    @Test(
        "what must not be carried out twice is not sent again when a kept connection ends without an answer",
        arguments: [nil, "", "body"])
    func lostAnswer(_ body: String?) async throws {
        let lab = try await Lab()
        let key = "lost-answer-\(body ?? "none")"
        for number in 0..<4 {
            // The connection is kept once, and ends when the second request has come.
            var request = try SessionRequest(
                lab.origin.faultURL("/fault/close-on-reuse?key=\(key)"), method: number < 2 ? .post : .put)
            request.body = body.map { .data(Data($0.utf8)) }
            let task = try lab.manager.dataTask(with: request)
            task.resume()
            let error = await task.outcome().error
            #expect(error?.code == (number == 1 ? .networkConnectionLost : nil))
            #expect(number != 1 || error?.message.contains("the outcome is unknown") == true)
        }
        // The third and the fourth on one connection, and the fourth once more.
        #expect(try await lab.origin.statistics(key).methods == ["POST": 2, "PUT": 3])
    }

    @Test("interim responses announce the one that counts")
    func interim() async throws {
        let end = try await outcome("storm?n=100&code=103")
        #expect(end.response?.statusCode == 200)
        #expect(end.error == nil)
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
