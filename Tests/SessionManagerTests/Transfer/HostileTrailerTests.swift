// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// What comes behind content.
struct HostileTrailerTests {
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
                #expect(
                    end.error?.code == .badServerResponse && end.filePath == nil,
                    "\(end)")
            }
            await #expect {
                let (_, content) = try await lab.manager.stream(for: request)
                for try await _ in content {}
            } throws: {
                ($0 as? SessionError)?.code == .badServerResponse
            }
        }
    }

    @Test("UPL-518 trailers without an end are refused, and do not keep other transfers waiting")
    func endlessTrailers() async throws {
        let lab = try await Lab()
        let request = try SessionRequest(lab.origin.faultURL("/fault/trailer-bomb"))
        async let other = lab.run(lab.request("/get"))
        let end = await #expect(throws: SessionError.self) { try await lab.manager.data(for: request) }
        #expect(end?.code == .badServerResponse, "\(String(describing: end))")
        #expect(try await other.error == nil)
    }

    @Test("FLD-058 a trailer that looks like a head is none")
    func trailerLikeAHead() async throws {
        let end = try await Lab.outcome(ofFault: "trailer-like-a-head")
        #expect(
            end.error == nil && end.response?.statusCode == 200 && end.data == Data("hello".utf8),
            "\(end)")
    }
}
