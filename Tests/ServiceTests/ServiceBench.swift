// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Reachability
import ReachabilityCore
import Service
import ServiceCore
import SessionCore
import TestSupport

/// One component of the service on a loop of its own, notified by the test; with a folder, and a log to wait
/// for.
final class ServiceBench<Part: ServiceComponent & SendableMetatype>: Sendable {
    let folder: ScratchFolder
    let loop: Reactor
    let files: Reactor
    let counters: LoopBound<ServiceCounters>
    /// The lines of the log, each behind its priority's name: "warning: …".
    let log = EventLog<String>()
    private let part: LoopBound<Part>

    /// Makes the part on the loop's thread, and starts it.
    init(
        in folder: ScratchFolder? = nil, reactor: Reactor? = nil, internet: InternetState? = nil,
        // A day after the changes.
        wallClock: @escaping @Sendable () -> WallTime = {
            WallTime(nanoseconds: (1_767_312_000 + 86_400) * 1_000_000_000)
        },
        bootClock: @escaping @Sendable () -> Int64 = clinux_boot_nanoseconds,
        _ make: @escaping @Sendable (ScratchFolder, Reactor, ServiceCounters) throws -> Part
    ) async throws {
        let folder = try folder ?? ScratchFolder("reach-service")
        let (loop, files) = (try reactor ?? Reactor(name: "bench"), try Reactor(name: "bench-files"))
        (self.folder, self.loop, self.files) = (folder, loop, files)
        let log = log
        (part, counters) = try await loop.result {
            let counters = ServiceCounters()
            let part = try make(folder, files, counters)
            let kernel = FakeKernel(.wired, reactor: loop)
            let context = ServiceContext(
                reactor: loop, manager: kernel.manager(), stateDirectory: folder.path,
                log: { log.append("\($0.name): \($1)") },
                wallClock: wallClock, bootClock: bootClock)
            context.internet = internet
            try part.start(context)
            return (LoopBound(part, to: loop), LoopBound(counters, to: loop))
        }
    }

    /// Notifies the component of changes, all in one turn of the loop.
    func notify(_ changes: CommittedChange...) async throws { try await notify(changes) }

    func notify(_ changes: [CommittedChange]) async throws {
        let part = part
        try await loop.result { part.here { part in for change in changes { part.statusChanged(change) } } }
    }

    /// Runs `body` with the component on the loop's thread.
    func ask<Value: Sendable>(_ body: @escaping @Sendable (Part) -> Value) async throws -> Value {
        let part = part
        return try await loop.result { part.here(body) }
    }

    func counters<Value: Sendable>(_ body: @escaping @Sendable (ServiceCounters) -> Value) async throws
        -> Value
    {
        let counters = counters
        return try await loop.result { counters.here(body) }
    }

    /// Stops the part and waits until it is done.
    func stop() async {
        await withCheckedContinuation { continuation in
            part.perform { part in part.stop { continuation.resume() } }
        }
    }
}

extension CommittedChange {
    /// A change at a second, as the monitor publishes it.
    static func at(
        _ second: Int64, _ status: ReachabilityStatus, was previous: ReachabilityStatus? = nil,
        event: ReachabilityUpdate.Event = .status, reason: String = "a reason"
    ) -> CommittedChange {
        var path = ReachabilityPath(
            status: status, interface: status.isReachable ? "eth0" : nil, medium: .ethernet,
            generation: UInt64(second + 1))
        path.reason = ReachabilityReason(
            status.isReachable ? .defaultRoute : .noRoute, interface: "eth0", sentence: reason)
        return CommittedChange(
            ReachabilityUpdate(event: event, status: status, previous: previous, path: path), since: nil,
            wall: WallTime(nanoseconds: (1_767_312_000 + second) * 1_000_000_000),
            instant: MonotonicInstant(nanoseconds: second * 1_000_000_000))
    }

    /// A number of status changes, the last of them to `wired`.
    static func storm(_ count: Int) -> [CommittedChange] {
        (1...count).map { index in
            let isUp = (count - index) % 2 == 0
            return .at(Int64(index), isUp ? .wired : .unreachable, was: isUp ? .unreachable : .wired)
        }
    }
}
