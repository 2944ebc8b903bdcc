// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

struct SettingsTests {
    private struct Foreign: ResponseSerializer {
        func serialize(_ data: Data?, response: SessionResponse?) -> SerializedResponse<String> {
            SerializedResponse(nil)
        }
    }

    private struct Delegate: SessionDelegate {}

    private func configured() throws -> HTTPSessionManager {
        var configuration = SessionConfiguration()
        configuration.maximumConnectionsPerHost = 3
        configuration.hostAddresses = ["h:443:127.0.0.1"]
        var policy = SecurityPolicy.default
        policy.validatesDomainName = false
        let api = try HTTPSessionManager(
            baseURL: "https://example.com/v1", configuration: configuration, securityPolicy: policy,
            completionQueue: .own)
        var serializer = JSONRequestSerializer()
        try serializer.base.setValue("bar", forHeader: "X-Bar")
        api.requestSerializer = serializer
        api.responseSerializer = StringResponseSerializer()
        api.delegate = Delegate()
        api.interceptor = RequestCompressor()
        api.cache = DiskResponseCache(directory: nil)
        return api
    }

    private func expect(_ other: HTTPSessionManager, like api: HTTPSessionManager) throws {
        #expect(other !== api && other.urlSessionManager !== api.urlSessionManager)
        #expect(other.baseURL == api.baseURL)
        #expect(other.baseURL?.absoluteString == "https://example.com/v1/")
        #expect(other.configuration == api.configuration)
        #expect(other.securityPolicy == api.securityPolicy)
        let request = try other.request(.post, "a", parameters: ["k": "v"])
        #expect(try request.headerFields == api.request(.post, "a", parameters: ["k": "v"]).headerFields)
        #expect(request.headerFields.contains { $0.name.rawName == "X-Bar" && $0.value == "bar" })
        #expect(other.requestSerializer is JSONRequestSerializer)
        #expect(other.responseSerializer as? StringResponseSerializer == StringResponseSerializer())
        #expect(other.delegate == nil)
        #expect(other.interceptor == nil)
    }

    @Test("AF-181 a copy of a manager has its base, configuration, serializers and policy, and nothing else")
    func copy() throws {
        let api = try configured()
        let other = try api.copy()
        try expect(other, like: api)
        #expect(other.cache != nil && other.cache === api.cache)
        let session = api.urlSessionManager.copy()
        #expect(session !== api.urlSessionManager)
        #expect(session.configuration == api.configuration)
        #expect(session.securityPolicy == api.securityPolicy)
        #expect(session.responseSerializer is StringResponseSerializer)
        #expect(session.delegate == nil && session.interceptor == nil)
        #expect(session.cache === api.cache)
    }

    @Test("AF-181 a manager that was written down and read is as the first")
    func archive() throws {
        let api = try configured()
        let data = try JSONEncoder().encode(api.settings)
        let settings = try JSONDecoder().decode(HTTPSessionManager.Settings.self, from: data)
        try expect(try HTTPSessionManager(settings: settings), like: api)
    }

    @Test("settings without a base and with the defaults; settings that no manager can have")
    func defaults() throws {
        let api = try HTTPSessionManager()
        let data = try JSONEncoder().encode(api.settings)
        let settings = try JSONDecoder().decode(HTTPSessionManager.Settings.self, from: data)
        let read = try HTTPSessionManager(settings: settings)
        #expect(read.baseURL == nil)
        #expect(read.requestSerializer is HTTPRequestSerializer)
        #expect(read.responseSerializer is JSONResponseSerializer)
        #expect(throws: SessionError.self) {
            try HTTPSessionManager(settings: HTTPSessionManager.Settings(baseURL: "ftp://h/"))
        }
    }

    @Test("a program's own serializer is copied but cannot be written down")
    func foreign() throws {
        let manager = URLSessionManager(responseSerializer: Foreign())
        #expect(manager.copy().responseSerializer is Foreign)
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(manager.settings) }
    }
}

/// What the compiler says of programs that use the library in a wrong way.
struct CompilerMessageTests {
    private let script =
        "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/packaging/checks/renamed"

    @Test(
        "FLD-043 FLD-046 FLD-049 the compiler says what to do about an answer without a type, and about every name of AFNetworking's that its article has"
    )
    func messages() async throws {
        let origin = try await TestSupport.Origin.shared
        let result = try await origin.run(["/usr/bin/python3", "-B", script, BuiltProgram.path("")])
        #expect(result.status == .exited(0), "\(result.text) \(result.errors)")
    }
}
