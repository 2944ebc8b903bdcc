// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import ReachTesting
import SessionManager
import Synchronization
import TestSupport
import Testing

/// Downloads of one content from several URLs.
@Suite final class MirrorTests: Sendable {
    private let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    private let folder: ScratchFolder
    private let requests = Mutex<[String]>([])

    init() throws { folder = try ScratchFolder("reach-mirrors") }

    private func sum(of content: Data) throws -> String {
        var digest = try SHA256Digest()
        content.withUnsafeBytes { digest.update($0) }
        return SHA256Digest.text(digest.finish())
    }

    private func options(_ mirrors: String...) -> TaskOptions {
        TaskOptions { $0.mirrors = mirrors.compactMap { URL(string: "https://\($0)/file") } }
    }

    private func download(
        _ manager: URLSessionManager, _ options: TaskOptions, sha256: String? = nil
    ) async throws -> SessionResponse {
        try await manager.download(
            SessionRequest("https://a.example/file"),
            to: DownloadDestination(folder("file"), sha256: sha256), options: options)
    }

    private var received: Data? { try? Data(contentsOf: URL(filePath: folder("file"))) }

    /// Records host, range and condition of each request.
    private func host(_ request: SentRequest) -> String {
        let host = String(request.url.host()?.prefix(1) ?? "")
        let fields = ["range", "if-range"].compactMap { request.value(forHeader: $0) }
        requests.withLock { $0.append(([host] + fields).joined(separator: " ")) }
        return host
    }

    private var sent: [String] { requests.withLock { $0 } }

    @Test("API-535 mirrors are asked in their order, whatever kept the one before from answering")
    func order() async throws {
        let manager = URLSessionManager { [self] request in
            switch host(request) {
            case "a": .failure(.cannotConnectToHost)
            case "b": .status(503, headers: ["Retry-After": "600"])
            case "c": .failure(.secureConnectionFailed)
            case "d": .text("gone", status: 410)
            case "e": .failure(.timedOut)
            default: .file(content, etag: "1")
            }
        }
        let steps = manager.recordSteps()
        let response = try await download(
            manager, options("b.example", "c.example", "d.example", "e.example", "f.example"))
        #expect(sent == ["a", "b", "c", "d", "e", "f"])
        #expect(response.url.host() == "f.example" && received == content)
        var changes: [String] = []
        for await step in steps {
            if case .mirror = step.step { changes.append("\(step.step)") }
            if case .completed = step.step { break }
        }
        #expect(
            changes == [
                "mirror: b.example/file after -1004", "mirror: c.example/file after -1011",
                "mirror: d.example/file after -1200", "mirror: e.example/file after -1011",
                "mirror: f.example/file after -1001",
            ])
    }

    @Test("API-536 what a mirror has given is continued at another where the checksum is known")
    func checked() async throws {
        let manager = URLSessionManager { [self] request in
            let file = Answer.file(content, etag: "of-\(request.url.host() ?? "")")
            return host(request) == "a" ? file.breaking(after: request.attempt == 1 ? 30_000 : 10_000) : file
        }
        let response = try await download(manager, options("b.example"), sha256: sum(of: content))
        #expect(response.url.host() == "b.example" && received == content)
        #expect(
            sent == [
                "a", "a bytes=30000- \"of-a.example\"", "a bytes=40000- \"of-a.example\"", "b bytes=50000-",
            ])
    }

    @Test(
        "API-537 without a checksum only a strong tag that both send has a part continued elsewhere",
        arguments: [
            ("\"1\"", "\"1\"", ["b bytes=10000- \"1\""]), ("\"1\"", "\"2\"", ["b bytes=10000- \"1\""]),
            ("W/\"1\"", "W/\"1\"", ["b"]), (nil, nil, ["b"]),
        ] as [(String?, String?, [String])])
    func unchecked(_ first: String?, _ second: String?, _ expected: [String]) async throws {
        // Another content at the second: nothing of the first may be in front of it.
        let other = Data(content.reversed())
        @Sendable func file(_ data: Data, _ tag: String?) -> Answer {
            let headers = ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Accept-Ranges": "bytes"]
            guard let tag else { return .data(data, headers: headers) }
            return tag.hasPrefix("W/")
                ? .data(data, headers: headers.merging(["ETag": tag]) { $1 })
                : .file(data, etag: String(tag.dropFirst().dropLast()), headers: headers)
        }
        let manager = URLSessionManager { [self] request in
            guard host(request) == "a" else { return file(second == "\"1\"" ? content : other, second) }
            // It gives some, and is gone then.
            return request.attempt == 1
                ? file(content, first).breaking(after: 10_000) : .failure(.cannotConnectToHost)
        }
        let response = try await download(manager, options("b.example"))
        #expect(response.url.host() == "b.example")
        #expect(received == (second == "\"1\"" ? content : other))
        #expect(sent.filter { $0.hasPrefix("b") } == expected)
    }

    @Test("API-538 content of two mirrors with a wrong checksum comes anew from one, then from the other")
    func joined() async throws {
        let wrong = Data(repeating: 7, count: content.count)
        let manager = URLSessionManager { [self] request in
            if host(request) == "b" { return .file(wrong, etag: "2") }
            switch request.attempt {
            case 1: return .file(content, etag: "1").breaking(after: 10_000)
            case 2: return .status(503)
            default: return .file(content, etag: "1")
            }
        }
        manager.interceptor = Interceptor(retriers: [Retrier { _, _, _ in .retry }])
        let options = options("b.example", "a.example")
        let response = try await download(manager, options, sha256: sum(of: content))
        #expect(response.url.host() == "a.example" && received == content)
        #expect(
            sent == ["a", "a bytes=10000- \"1\"", "b bytes=10000-", "b", "a"],
            "the rest of b, all of b, and then a, its second URL")
        #expect(folder.names == ["file"])
    }

    @Test("API-539 where no mirror has the right content the download fails, and nothing of it stays")
    func wrong() async throws {
        let manager = URLSessionManager { [self] request in
            .file(Data("content of \(host(request))".utf8), etag: "1")
        }
        manager.interceptor = Interceptor(retriers: [Retrier { _, _, _ in .retry }])
        var options = options("b.example")
        options.resumeFile = folder("resume")
        let error = await #expect(throws: SessionError.self) {
            _ = try await download(manager, options, sha256: sum(of: content))
        }
        #expect(error?.code == .checksumMismatch)
        #expect(sent == ["a", "b"])
        #expect(folder.names == [])
    }

    @Test("API-540 secrets of the request go to no mirror of another origin")
    func secrets() async throws {
        let seen = Mutex<[String]>([])
        let manager = URLSessionManager { [self] request in
            let names = ["authorization", "cookie", "x-token", "x-device"]
            let fields = names.compactMap { request.value(forHeader: $0) }
            seen.withLock { $0.append("\(host(request)) \(fields.joined(separator: " "))") }
            if request.url.path() == "/file" { return .status(404) }
            return .file(content, etag: "1")
        }
        var request = try SessionRequest("https://a.example/file")
        request.headerFields = [.authorization: "Bearer 1", .cookie: "id=2"]
        for (name, value) in [("X-Token", "3"), ("X-Device", "4")] {
            HTTPField.Name(name).map { request.headerFields[$0] = value }
        }
        request.options.sensitiveFields = HTTPField.Name("X-Token").map { [$0] } ?? []
        let options = TaskOptions {
            $0.mirrors = ["https://b.example/file", "https://a.example/other"].compactMap { URL(string: $0) }
        }
        let response = try await manager.download(
            request, to: DownloadDestination(folder("file")), options: options)
        #expect(response.url.absoluteString == "https://a.example/other")
        #expect(
            seen.withLock { $0 } == ["a Bearer 1 id=2 3 4", "b 4", "a Bearer 1 id=2 3 4"])
    }

    @Test("API-579 a manager's own secrets go to no mirror and no redirect of another origin")
    func managersSecrets() async throws {
        let seen = Mutex<[String]>([])
        var configuration = SessionConfiguration()
        configuration.redirects.sensitiveFields = SensitiveFields(adding: ["x-device"])
        let manager = URLSessionManager(configuration: configuration) { [self] request in
            seen.withLock { $0.append("\(host(request)) \(request.value(forHeader: "x-device") ?? "-")") }
            switch request.url.path() {
            case "/file": return .status(404)
            case "/moved": return .redirect(to: "https://c.example/content")
            default: return .file(content, etag: "1")
            }
        }
        var request = try SessionRequest("https://a.example/file")
        HTTPField.Name("X-Device").map { request.headerFields[$0] = "4" }
        let options = TaskOptions { $0.mirrors = [URL(string: "https://b.example/x")].compactMap(\.self) }
        _ = try await manager.download(request, to: DownloadDestination(folder("file")), options: options)
        request.url = try #require(URL(string: "https://a.example/moved"))
        _ = try await manager.download(request, to: DownloadDestination(folder("other")))
        #expect(seen.withLock { $0 } == ["a 4", "b -", "a 4", "c -"])
    }

    @Test("API-541 a lost network is waited for; the mirror stays")
    func network() async throws {
        let network = ScriptedNetwork(.wired)
        let manager = URLSessionManager(network: network) { [self] request in
            let file = Answer.file(content, etag: "1")
            _ = host(request)
            return request.attempt == 1 ? file.losingPath(after: 40_000) : file
        }
        let response = try await download(manager, options("b.example"), sha256: sum(of: content))
        #expect(response.url.host() == "a.example" && received == content)
        #expect(sent == ["a", "a bytes=40000- \"1\""])
    }

    @Test("API-542 a later process continues at the mirror that gave content last")
    func later() async throws {
        var options = options("b.example")
        options.resumeFile = folder("resume")
        let first = URLSessionManager { [self] request in
            host(request) == "a"
                ? .status(404)
                : request.attempt == 1
                    ? .file(content, etag: "1").breaking(after: 40_000) : .failure(.cannotConnectToHost)
        }
        await #expect(throws: SessionError.self) { _ = try await download(first, options) }
        #expect(folder.names == ["resume", "resume.part"])
        requests.withLock { $0 = [] }
        let second = URLSessionManager { [self] request in
            _ = host(request)
            return .file(content, etag: "1")
        }
        _ = try await download(second, options)
        #expect(sent == ["b bytes=40000- \"1\""] && received == content && folder.names == ["file"])
    }

    @Test("API-543 retriers are asked when each mirror has failed, once a round, and the part is kept")
    func rounds() async throws {
        let manager = URLSessionManager { [self] request in
            switch (host(request), request.attempt) {
            case ("b", 1): .file(content, etag: "1").breaking(after: 40_000)
            case ("b", 4): .file(content, etag: "1")
            default: .failure(.cannotConnectToHost)
            }
        }
        let counts = Mutex<[Int]>([])
        manager.interceptor = Interceptor(retriers: [
            Retrier { _, state, _ in
                counts.withLock { $0.append(state.retryCount) }
                return .retry
            }
        ])
        _ = try await download(manager, options("b.example", "c.example"), sha256: sum(of: content))
        #expect(counts.withLock { $0 } == [0, 1] && received == content)
        #expect(
            sent == [
                "a", "b", "b bytes=40000- \"1\"", "c bytes=40000-", "b bytes=40000-", "a bytes=40000-",
                "c bytes=40000-", "b bytes=40000-",
            ])
    }

    @Test(
        "API-544 mirrors of anything but a download by GET, or elsewhere than in the web, are refused at once"
    )
    func refused() async throws {
        let manager = URLSessionManager { [self] _ in
            requests.withLock { $0.append("sent") }
            return .status(200)
        }
        let error = #expect(throws: SessionError.self) {
            _ = try manager.dataTask(
                with: SessionRequest("https://a.example/"), options: options("b.example"))
        }
        #expect(error?.code == .unsupportedURL && error?.message == "only a download by GET has mirrors")
        #expect(throws: SessionError.self) {
            _ = try manager.downloadTask(
                with: SessionRequest("https://a.example/", method: .post), options: options("b.example"))
        }
        let elsewhere = TaskOptions { $0.mirrors = [URL(filePath: "/etc/passwd")] }
        #expect(throws: SessionError.self) {
            _ = try manager.downloadTask(with: SessionRequest("https://a.example/"), options: elsewhere)
        }
        #expect(sent.isEmpty)
    }

    @Test("API-545 of content that was continued and has a wrong checksum nothing stays")
    func continued() async throws {
        var options = TaskOptions()
        options.resumeFile = folder("resume")
        let manager = URLSessionManager { [self] request in
            let file = Answer.file(content, etag: "1")
            return host(request) == "a" && sent.count == 1
                ? file.breaking(after: 40_000) : file
        }
        let sum = try sum(of: Data("something else".utf8))
        for code in [SessionError.Code.networkConnectionLost, .checksumMismatch] {
            let error = await #expect(throws: SessionError.self) {
                _ = try await download(manager, options, sha256: sum)
            }
            #expect(error?.code == code)
        }
        #expect(sent == ["a", "a bytes=40000- \"1\""] && folder.names == [])
    }

    @Test(
        "UPL-551 a download is resumed at the URL of the request that is given, by a strong tag or a checksum alone",
        arguments: [
            ("\"1\"", false, "b bytes=30000- \"1\""), (nil, true, "b bytes=30000-"), (nil, false, "b"),
        ]
            as [(String?, Bool, String)])
    func renewedURL(_ tag: String?, _ isChecked: Bool, _ expected: String) async throws {
        let manager = URLSessionManager { [self] request in
            let isFirst = host(request) == "a"
            let headers = [
                "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Mon, 07 Nov 1994 08:49:37 GMT",
            ]
            let file =
                tag == nil && !isChecked
                ? Answer.data(content, headers: headers.merging(["Accept-Ranges": "bytes"]) { $1 })
                : .file(content, etag: "1", headers: headers)
            return !isFirst ? file : request.attempt == 1 ? file.breaking(after: 30_000) : .status(403)
        }
        var options = TaskOptions()
        options.keepsPartialFile = true
        options.continuesWithoutValidator = isChecked
        options.partialFile = folder("part")
        let first = try manager.downloadTask(
            with: SessionRequest("https://a.example/file?old"), options: options)
        first.resume()
        let record = try #require(await first.outcome().resumeRecord)
        let again = try manager.downloadTask(
            resuming: record, with: SessionRequest("https://b.example/file?new"), options: options,
            destination: .file(folder("file")))
        again.resume()
        let end = await again.outcome()
        #expect(end.error == nil && received == content)
        #expect(sent.last == expected)
        #expect(again.currentRequest.url.absoluteString == "https://b.example/file?new")
    }
}
