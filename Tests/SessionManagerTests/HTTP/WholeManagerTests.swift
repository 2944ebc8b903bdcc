// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// A manager of a web service is a whole manager, and settings are one expression.
struct WholeManagerTests {
    private struct Delegate: SessionDelegate {}
    @Test(
        "API-060 what is set at a manager of a web service holds for its tasks, and is read by the same names"
    )
    func settings() async throws {
        let origin = try await TestSupport.Origin.shared
        let api = try HTTPSessionManager(
            baseURL: origin.url("/"), configuration: SessionConfiguration { $0.proxy = "" })
        let manager = api.urlSessionManager
        #expect(api.configuration == manager.configuration && api.queue === manager.queue)
        #expect(try api.session === manager.session)
        api.delegate = Delegate()
        #expect(manager.delegate is Delegate)
        api.interceptor = RetryPolicy()
        #expect(manager.interceptor is RetryPolicy)
        let cache = DiskResponseCache(directory: nil)
        api.cache = cache
        #expect(manager.cache === cache)
        let steps = Diary<String>()
        api.eventMonitors = [
            EventMonitor(queue: .custom { $0() }) { _, step in
                if case .sent = step { steps.record("sent") }
            }
        ]
        let events = api.events
        let task = try api.dataTask(.get, "get")
        #expect(api.tasks.map(\.identifier) == [task.identifier] && api.dataTasks.count == 1)
        #expect(api.uploadTasks.isEmpty && api.downloadTasks.isEmpty)
        task.resume()
        #expect(await task.outcome().error == nil)
        #expect(steps.all == ["sent"])
        for await event in events { if case .completed(let done, _) = event, done === task { break } }
        api.invalidate()
        await #expect {
            try await api.data(.get, "get")
        } throws: {
            ($0 as? SessionError)?.code == .invalidated
        }
    }

    @Test("API-061 files and streams come by an address")
    func contents() async throws {
        let origin = try await TestSupport.Origin.shared
        let folder = try ScratchFolder()
        let api = try HTTPSessionManager(
            baseURL: origin.url("/"), configuration: SessionConfiguration { $0.proxy = "" })
        try await api.download("bytes/1000", to: DownloadDestination(folder("file")))
        #expect(try Data(contentsOf: URL(filePath: folder("file"))) == Data(OriginContent.bytes(0..<1000)))
        let (response, content) = try await api.stream("bytes/1000")
        #expect(response.statusCode == 200)
        var received = Data()
        for try await chunk in content { received += chunk }
        #expect(received == Data(OriginContent.bytes(0..<1000)))
    }

    @Test("API-062 all settings are written in one form")
    func configurable() throws {
        #expect(TaskOptions { $0.lane = "a" }.lane == "a")
        #expect(RequestQueue.Settings { $0.settleTime = .zero }.settleTime == .zero)
        #expect(SessionConfiguration { $0.redirects.limit = 3 }.redirects.limit == 3)
        #expect(SecurityPolicy { $0.minimumTLSVersion = .tls1_3 }.minimumTLSVersion == .tls1_3)
        #expect(RequestOptions { $0.handlesCookies = false }.handlesCookies == false)
        #expect(RequestOptionChanges { $0.handlesCookies = false }.handlesCookies == false)
        #expect(
            ReachabilityConfiguration { $0.timing.lossGrace = .seconds(3) }.timing.lossGrace == .seconds(3))
        // What the closure throws is thrown, by its type.
        #expect(throws: SessionError.self) {
            try SecurityPolicy { (policy) throws(SessionError) in
                policy.pinnedKeys = try PublicKeyPin.list("no pin")
            }
        }
    }

    @Test("API-063 a cancellation is told apart, and codes print their names")
    func errors() async throws {
        let origin = try await TestSupport.Origin.shared
        let api = try HTTPSessionManager(
            baseURL: origin.url("/"), configuration: SessionConfiguration { $0.proxy = "" })
        let task = try api.dataTask(.get, "hold/never")
        task.resume()
        task.cancel()
        let error = try #require(await task.outcome().error)
        #expect(error.isCancellation && "\(error.code)" == "cancelled")
        let other = SessionError(.timedOut, "late")
        #expect(!other.isCancellation && "\(other.code)" == "timedOut")
        #expect("\(SessionError.Code(rawValue: -4))" == "-4")
        #expect("\(SessionError.Code.certificateHasUnknownRoot)" == "certificateHasUnknownRoot")
    }
}
