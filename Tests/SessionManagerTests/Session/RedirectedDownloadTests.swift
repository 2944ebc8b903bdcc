// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import ReachTesting
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Downloads that a redirect leads to another origin, and that are cut there: they begin where they were
/// asked for.
struct RedirectedDownloadTests {
    private static let secret = "Bearer of-the-first-origin"

    /// A request with a secret that leads to `target`.
    private func request(_ lab: Lab, _ key: String, to target: String) throws -> SessionRequest {
        var request = try lab.request("/redirect-to?key=\(key)&url=\(target.replacing("&", with: "%26"))")
        try request.setValue(Self.secret, forHeader: "Authorization")
        return request
    }

    /// What is cut so often, at another origin than that of ``request(_:_:to:)``.
    private func target(_ lab: Lab, _ key: String, times: Int = 1) -> String {
        let path = "/fault/cut?n=100000&after=30000&kind=rst&times=\(times)&key=\(key)-target"
        return lab.origin.url(path, at: .direct, host: "localhost")
    }

    @Test("the reader of a stream gets the rest, and the other origin no secret")
    func stream() async throws {
        let lab = try await Lab()
        let options = TaskOptions.retrying()
        let key = "redirected-stream"
        let (_, content) = try await lab.manager.stream(
            for: request(lab, key, to: target(lab, key, times: 2)), options: options)
        var read: [UInt8] = []
        for try await chunk in content { read += chunk }
        #expect(read == OriginContent.bytes(0..<100_000))
        let (first, other) = (
            try await lab.origin.statistics(key), try await lab.origin.statistics("\(key)-target")
        )
        #expect(first.authorizations == Array(repeating: Self.secret, count: 3))
        #expect(other.authorizations == ["", "", ""])
    }

    @Test(
        "a record has the address that was asked for, and with the same request each user gets their own"
    )
    func record() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        var options = TaskOptions()
        options.keepsPartialFile = true
        options.partialFile = folder("part")
        let key = "redirected-record"
        let request = try request(lab, key, to: target(lab, key))
        let cut = try lab.manager.downloadTask(with: request, options: options)
        cut.resume()
        let record = try #require(await cut.outcome().resumeRecord)
        #expect(record.url == request.url)
        let again = try lab.manager.downloadTask(
            resuming: record, with: request, destination: .file(DownloadDestination(folder("file"))))
        again.resume()
        #expect(await again.outcome().error == nil)
        #expect(again.currentRequest.headerFields[.range] == "bytes=30000-")
        #expect(
            try Data(contentsOf: URL(filePath: folder("file"))) == Data(OriginContent.bytes(0..<100_000)))
        #expect(try await lab.origin.statistics(key).authorizations == [Self.secret, Self.secret])
        #expect(try await lab.origin.statistics("\(key)-target").authorizations == ["", ""])
    }

    @Test("a record of another origin than the request's gets none of its secrets")
    func foreignRecord() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        try Data(OriginContent.bytes(0..<1000)).write(to: URL(filePath: folder("part")))
        let record = try ResumeRecord(
            url: lab.request("/range/5000?key=foreign-record").url, eTag: "\"range-5000-1\"",
            receivedBytes: 1000, totalBytes: 5000, partialFile: folder("part"))
        var request = try SessionRequest(
            lab.origin.url("/range/5000?key=foreign-request", at: .http, host: "localhost"))
        try request.setValue(Self.secret, forHeader: "Authorization")
        let task = try lab.manager.downloadTask(
            resuming: record, with: request, destination: .file(DownloadDestination(folder("file"))))
        task.resume()
        #expect(await task.outcome().error == nil)
        #expect(task.currentRequest.headerFields[.range] == "bytes=1000-")
        #expect(try await lab.origin.statistics("foreign-record").count == 0)
        #expect(try await lab.origin.statistics("foreign-request").authorizations == [Self.secret])
    }

    @Test(
        "a download that is parked behind a redirect asks again where it was asked for",
        arguments: [true, false])
    func parked(asksByHandler: Bool) async throws {
        let lab = try await QueueLab()
        let key = "redirected-parked-\(asksByHandler)"
        let rest = "n=100000&after=30000&times=1&gate=\(key)&key=\(key)-target"
        let elsewhere = lab.origin.url("/fault/stall?\(rest)", at: .direct, host: "device.test")
            .replacing("&", with: "%26")
        let came = EventLog<Int64>()
        var options = TaskOptions()
        options.downloadProgress = { came.append($0.completedBytes) }
        options.challengeHandler = { challenge in
            challenge.realm == "Fake Realm"
                ? .useCredential(.password(user: "u", password: "p")) : .performDefaultHandling
        }
        var request = try lab.request(
            "/digest-auth/u/p?key=\(key)&url=\(elsewhere)", at: .http)
        if !asksByHandler {
            request = try lab.request("/redirect-to?key=\(key)&url=\(elsewhere)")
            try request.setValue(Self.secret, forHeader: "Authorization")
        }
        let task = try lab.manager.downloadTask(with: request, options: options)
        task.resume()
        await came.wait { $0.contains(30_000) }
        lab.network.become(.unreachable)
        await lab.counts { $0.parked == 1 }
        lab.network.become(.wired)
        let outcome = await task.outcome()
        #expect(outcome.error == nil, "\(String(describing: outcome.error))")
        let path = try #require(outcome.filePath)
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(OriginContent.bytes(0..<100_000)))
        #expect(task.currentRequest.headerFields[.range] == "bytes=30000-")
        let first = try await lab.origin.statistics(key)
        #expect(first.authorizations.last?.isEmpty == false && first.count > 1)
        #expect(try await lab.origin.statistics("\(key)-target").authorizations == ["", ""])
    }

    @Test("what libcurl authenticated with is not shown to the origin that a parked redirect leads to")
    func parkedRedirect() async throws {
        let lab = try await QueueLab()
        let key = "parked-redirect"
        let elsewhere = lab.origin.url("/digest-auth/u/p?key=\(key)-target", at: .http, host: "device.test")
        let heads = EventLog<Int?>()
        lab.manager.eventMonitors = [
            EventMonitor { _, step in
                if case .received(let head) = step { heads.append(head.statusCode) }
            }
        ]
        let home = lab.origin.port(.direct)
        let request = try lab.request(
            "/digest-auth/u/p?key=\(key)&gate=\(key)&url=\(elsewhere)", at: .direct)
        var options = TaskOptions()
        options.challengeHandler = { challenge in
            challenge.port == home
                ? .useCredential(.password(user: "u", password: "p")) : .performDefaultHandling
        }
        let task = try lab.manager.dataTask(with: request, options: options)
        task.resume()
        // Its content does not end before the network does.
        await heads.wait { $0.last == 302 }
        lab.network.become(.unreachable)
        await lab.counts { $0.parked == 1 }
        lab.network.become(.wired)
        #expect(await task.outcome().response?.statusCode == 401)
        #expect(try await lab.origin.statistics("\(key)-target").authorizations == [""])
        try await lab.origin.release(key)
    }
}
