// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Connections that are bound to an interface because the options say so (SO_BINDTODEVICE).
@Suite(
    "Interfaces that are asked for",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct InterfaceScenarios {
    /// Who says so.
    enum Level: String, CaseIterable { case request, session }

    private func manager(_ paths: TwoPaths, _ interface: String?) -> URLSessionManager {
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        configuration.interface = interface
        return URLSessionManager(
            configuration: configuration, securityPolicy: .default, on: paths.lab.near.reactor)
    }

    private func request(_ paths: TwoPaths, _ path: String, _ interface: String?) throws -> SessionRequest {
        var request = try SessionRequest(paths.base + path)
        request.options.interface = interface
        return request
    }

    private func outcome(_ manager: URLSessionManager, _ request: SessionRequest) async throws -> TaskOutcome
    {
        let task = try manager.dataTask(with: request)
        task.resume()
        return await task.outcome()
    }

    @Test("what a request or a session says goes before the kernel's choice", arguments: Level.allCases)
    func bound(_ level: Level) async throws {
        let paths = try await TwoPaths()
        let manager = manager(paths, level == .session ? TwoPaths.second : nil)
        let bound = try request(paths, "/quick", level == .request ? TwoPaths.second : nil)
        let outcome = try await outcome(manager, bound)
        #expect(outcome.error == nil)
        #expect(outcome.metrics.last?.local?.address == TwoPaths.secondAddress)
        #expect(try await paths.requests(1).map(\.peer) == [TwoPaths.secondAddress])
    }

    @Test("a request's word goes before its session's, and each has connections of its own")
    func both() async throws {
        let paths = try await TwoPaths()
        let manager = manager(paths, TwoPaths.second)
        for interface in [nil, TwoPaths.first, nil, TwoPaths.first] {
            #expect(try await outcome(manager, request(paths, "/quick", interface)).error == nil)
        }
        let requests = try await paths.requests(4)
        let first = "10.1.0.2"
        #expect(requests.map(\.peer) == [TwoPaths.secondAddress, first, TwoPaths.secondAddress, first])
        #expect(Set(requests.map(\.connection)).count == 2)
    }

    @Test("it is a decision, and holds also where the path is dead", arguments: Level.allCases)
    func dead(_ level: Level) async throws {
        let paths = try await TwoPaths()
        let manager = manager(paths, level == .session ? TwoPaths.first : nil)
        func bound() throws -> SessionRequest {
            var bound = try request(paths, "/quick", level == .request ? TwoPaths.first : nil)
            bound.options.timeouts.connect = .seconds(1)
            return bound
        }
        #expect(try await outcome(manager, bound()).error == nil)
        try await paths.cut(.linkDown)
        #expect(try await outcome(manager, bound()).error != nil)
        // Nothing keeps those from the other one who have said nothing.
        let free = self.manager(paths, nil)
        #expect(try await outcome(free, request(paths, "/quick?free", nil)).error == nil)
        let requests = try await paths.requests(2)
        #expect(requests.map(\.query) == ["", "free"])
        #expect(requests.map(\.peer) == ["10.1.0.2", TwoPaths.secondAddress])
    }

    @Test("an interface that is not there is an error, and nothing is sent")
    func missing() async throws {
        let paths = try await TwoPaths()
        let manager = manager(paths, nil)
        #expect(try await outcome(manager, request(paths, "/quick", "nosuch0")).error != nil)
        #expect(try await outcome(manager, request(paths, "/quick?after", nil)).error == nil)
        #expect(try await paths.requests(1).map(\.query) == ["after"])
    }
}
