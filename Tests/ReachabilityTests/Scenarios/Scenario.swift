// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// A manager on the real kernel in a network namespace, with a log of its updates.
final class Scenario: Sendable {
    let lab: NetworkLab
    let manager: ReachabilityManager
    let log = EventLog<ReachabilityUpdate>()
    let reactor: Reactor

    var near: NetworkNamespace { lab.near }
    var far: NetworkNamespace { lab.far }

    /// Builds the fixture and the manager; monitoring does not start yet.
    convenience init(
        _ fixture: NetworkLab.Fixture, host: String? = nil,
        configure: (inout ReachabilityConfiguration) -> Void = { _ in },
        environment: (inout MonitorEnvironment) -> Void = { _ in }
    ) async throws {
        try await self.init(
            lab: NetworkLab(fixture), host: host, configure: configure, environment: environment)
    }

    /// Another manager in an existing lab.
    init(
        lab: NetworkLab, host: String? = nil,
        configure: (inout ReachabilityConfiguration) -> Void = { _ in },
        environment change: (inout MonitorEnvironment) -> Void = { _ in }
    ) async throws {
        self.lab = lab
        reactor = try Reactor(name: "scenario")
        var configuration = ReachabilityConfiguration()
        configuration.networkNamespace = lab.near.path
        configure(&configuration)
        var environment = MonitorEnvironment.kernel
        environment.reactor = { [reactor] () throws(ReachabilityError) -> Reactor in reactor }
        change(&environment)
        manager = ReachabilityManager(
            host.map { MonitorTarget($0) } ?? .general, configuration, .onLoop(reactor), environment)
        _ = manager.observeReachability { [log] in log.append($0) }
    }

    /// The status updates so far, without the first report.
    var statuses: [ReachabilityStatus] {
        log.elements.filter { $0.event == .status }.map(\.status)
    }

    var pathUpdates: [ReachabilityPath] {
        log.elements.filter { $0.event == .path }.map(\.path)
    }

    var path: ReachabilityPath { manager.path }

    /// Whether the link is online by itself, according to a new check.
    func isOnline(_ link: String) throws -> Bool {
        let report = try ReachabilityManager.check(configuration: manager.configuration)
        return report.links.contains { $0.name == link && $0.isOnline }
    }

    /// Starts, and checks the first report.
    func start(
        expecting status: ReachabilityStatus, on interface: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        manager.startMonitoring()
        let first = await log.wait(forCount: 1)
        #expect(first.map(\.event) == [.initial], sourceLocation: sourceLocation)
        #expect(first.map(\.status) == [status], sourceLocation: sourceLocation)
        #expect(path.interface == interface, sourceLocation: sourceLocation)
    }

    /// Waits until the path satisfies `predicate`.
    func wait(
        within limit: Duration = .seconds(60), sourceLocation: SourceLocation = #_sourceLocation,
        until predicate: @escaping @Sendable (ReachabilityPath) -> Bool
    ) async {
        let seen = await log.wait(within: limit) { $0.last.map { predicate($0.path) } ?? false }
        #expect(
            seen.last.map { predicate($0.path) } ?? false,
            "the path never came to that: \(manager.path.reason)",
            sourceLocation: sourceLocation)
    }

    /// Waits for this number of status updates and for the manager to settle, and checks that these are all
    /// since the start.
    func expect(
        _ expected: [ReachabilityStatus], on interface: String? = nil, code: ReachabilityReason.Code? = nil,
        within limit: Duration = .seconds(60), sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let isComplete: @Sendable ([ReachabilityUpdate]) -> Bool = { updates in
            updates.lazy.filter { $0.event == .status }.count >= expected.count
        }
        let observed = await log.wait(within: limit, until: isComplete)
        // Settling asks the kernel, which would reveal changes without an event.
        #expect(isComplete(observed), "not told by itself: \(statuses)", sourceLocation: sourceLocation)
        await manager.settle()
        #expect(statuses == expected, "\(manager.path.reason)", sourceLocation: sourceLocation)
        #expect(path.interface == interface, sourceLocation: sourceLocation)
        if let code { #expect(path.reason.code == code, sourceLocation: sourceLocation) }
    }
}

extension NetworkLab {
    /// Whether the kernel has VXLAN links, the most widespread tunnels on small kernels; tried once.
    static let makesVXLAN: Bool = {
        guard isAvailable, let namespace = try? TestNamespace() else { return false }
        return (try? namespace.shell("ip link add vx0 type vxlan id 7 dstport 4789")) != nil
    }()

    /// Whether the kernel has IFB links, which drop all packets; tried once.
    static let makesIFB: Bool = {
        guard isAvailable, let namespace = try? TestNamespace() else { return false }
        return (try? namespace.shell("ip link add ks0 type ifb")) != nil
    }()
}

/// The capabilities of the tests' user namespace (user_namespaces(7)).
enum UserNamespace {
    /// Whether a user number is mapped; policy rules about unmapped users cannot be created.
    static func mapsUser(_ user: UInt) -> Bool {
        guard let file = fopen("/proc/self/uid_map", "re") else { return true }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let numbers = text.split { $0 == " " || $0 == "\n" }.compactMap { UInt($0) }
            if numbers.count == 3, user >= numbers[0], user - numbers[0] < numbers[2] { return true }
        }
        return false
    }
}
