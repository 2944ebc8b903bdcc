// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import ReachTesting
import Synchronization
import Testing

/// Rules of redirects that a manager sets.
@Suite struct RedirectRulesTests {
    @Test("API-580 A manager's rules of redirects hold: how many, POST as it is, none to http")
    func redirectRules() async throws {
        let seen = Mutex<[String]>([])
        let configuration = SessionConfiguration {
            $0.redirects.rewritesPost = false
            $0.redirects.followsToInsecure = false
            $0.redirects.limit = 1
        }
        let manager = URLSessionManager(
            configuration: configuration, responseSerializer: HTTPResponseSerializer()
        ) { request in
            seen.withLock { $0.append("\(request.method) \(request.path)") }
            switch request.path {
            case "/once": return .redirect(to: "/end", status: 302)
            case "/twice": return .redirect(to: "/once")
            case "/open": return .redirect(to: "http://api.example.com/end")
            default: return .text("done")
            }
        }
        func error(_ path: String) async throws -> SessionError.Code? {
            var request = try SessionRequest("https://api.example.com\(path)")
            request.method = .post
            let task = try manager.dataTask(with: request)
            task.resume()
            return await task.outcome().error?.code
        }
        #expect(try await error("/once") == nil)
        #expect(try await error("/twice") == .tooManyRedirects)
        #expect(try await error("/open") == .secureConnectionFailed)
        #expect(
            seen.withLock { $0 } == ["POST /once", "POST /end", "POST /twice", "POST /once", "POST /open"])
    }
}
