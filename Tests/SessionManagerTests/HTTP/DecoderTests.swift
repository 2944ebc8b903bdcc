// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import SessionCore
import SessionManager
import SessionManagerExtras
import TestSupport
import Testing

/// What reads the values that calls return.
struct DecoderTests {
    private struct Sample: Decodable, Sendable, Equatable {
        var takenAt: Date
        var deviceName: String
    }

    private func manager() async throws -> HTTPSessionManager {
        let origin = try await TestSupport.Origin.shared
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        return try HTTPSessionManager(baseURL: origin.url("/"), configuration: configuration)
    }

    /// The parameters with which `body` answers such a content.
    private func answer(_ type: String, _ text: String) -> RequestParameters {
        ["type": type, "text": text]
    }

    @Test("the manager's decoder knows the dates and keys of the service; a copy has it too")
    func strategies() async throws {
        let api = try await manager()
        let answer = answer("application/json", #"{"taken_at":"2026-01-02T03:04:05Z","device_name":"m1"}"#)
        await #expect {
            let _: Sample = try await api.get("body", parameters: answer)
        } throws: {
            ($0 as? SessionError)?.code == .cannotParseResponse
        }
        let decoder = JSONCoding.decoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        api.decoder = decoder
        for manager in [api, try api.copy()] {
            let sample: Sample = try await manager.get("body", parameters: answer)
            #expect(sample == Sample(takenAt: Date(timeIntervalSince1970: 1_767_323_045), deviceName: "m1"))
        }
    }

    @Test("values come out of property lists, with the media types of the manager's serializer")
    func propertyList() async throws {
        struct Named: Decodable, Sendable { var name: String }
        let api = try await manager()
        api.responseSerializer = PropertyListResponseSerializer()
        api.decoder = PropertyListContentDecoder()
        let list = "<plist version=\"1.0\"><dict><key>name</key><string>m1</string></dict></plist>"
        let named: Named = try await api.get("body", parameters: answer("application/x-plist", list))
        #expect(named.name == "m1")
        await #expect(throws: SessionError.self) {
            let _: Named = try await api.get(
                "body", parameters: answer("application/json", #"{"name":"m1"}"#))
        }
    }
}
