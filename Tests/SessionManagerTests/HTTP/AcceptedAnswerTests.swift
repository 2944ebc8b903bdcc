// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Which answers a manager accepts, and what it says of the others.
struct AcceptedAnswerTests {
    private func manager() async throws -> HTTPSessionManager {
        let origin = try await TestSupport.Origin.shared
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        return try HTTPSessionManager(baseURL: origin.url("/"), configuration: configuration)
    }

    private struct Echo: Decodable, Sendable {
        var method: String
    }

    @Test(
        "the manager's serializer says which statuses are acceptable, whatever the call makes of the content")
    func acceptable() async throws {
        struct Status: Decodable { let e: Int }
        let api = try await manager()
        await #expect(throws: SessionError.self) { try await api.data(.get, "json-status/404") }
        var serializer = JSONResponseSerializer()
        serializer.acceptableStatusCodes = [404...404]
        api.responseSerializer = serializer
        #expect(try await api.data(.get, "json-status/404").1.statusCode == 404)
        #expect(try await api.data(.get, "status/404").0.isEmpty)
        let status: Status = try await api.get("json-status/404")
        #expect(status.e == 404)
        await #expect {
            try await api.data(.get, "html")
        } throws: {
            ($0 as? SessionError)?.code == .badServerResponse && ($0 as? SessionError)?.data?.isEmpty == false
        }
    }

    @Test("the media types that the manager's serializer of JSON takes hold for values as well")
    func acceptableTypes() async throws {
        struct Status: Decodable { let e: Int }
        let api = try await manager()
        for type in ["text/plain", "application/vnd.api+json"] {
            let address = "body?type=\(type.replacing("+", with: "%2B"))&text=%7B%22e%22:1%7D"
            api.responseSerializer = JSONResponseSerializer()
            await #expect {
                let _: Status = try await api.get(address)
            } throws: {
                ($0 as? SessionError)?.code == .cannotDecodeContentData
            }
            var serializer = JSONResponseSerializer()
            // What the error advises, or the rule for names that end in +json.
            serializer.acceptableContentTypes?.insert("text/*")
            serializer.validation.acceptsStructuredSuffixes = true
            api.responseSerializer = serializer
            let status: Status = try await api.get(address)
            #expect(status.e == 1)
            // Whatever else the manager makes of content, values are JSON.
            api.responseSerializer = StringResponseSerializer()
            await #expect {
                let _: Status = try await api.get(address)
            } throws: {
                ($0 as? SessionError)?.code == .cannotDecodeContentData
            }
        }
    }

    @Test("a serializer that wants content refuses no answer before its content has come")
    func decodable() async throws {
        let api = try await manager()
        api.responseSerializer = DecodableResponseSerializer<Echo>()
        let echo: Echo = try await api.get("get")
        #expect(echo.method == "GET")
        #expect(try await api.data(.get, "get").1.statusCode == 200)
        await #expect(throws: SessionError.self) { try await api.data(.get, "json-status/404") }
    }

    @Test("a failure has the status, the content and the address")
    func failure() async throws {
        let api = try await manager()
        do {
            let _: Echo = try await api.get("json-status/422")
            Issue.record("422 was accepted")
        } catch {
            #expect(error.code == .badServerResponse)
            #expect(error.response?.statusCode == 422)
            #expect(error.data == Data(#"{"e":422}"#.utf8))
        }
    }
}
