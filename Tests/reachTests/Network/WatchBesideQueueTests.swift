// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// `reach watch --json` beside a queue: each event that makes the queue wait or continue has a line there,
/// with the same reason.
@Suite(
    "Watching what a queue does",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct WatchBesideQueueTests {
    /// A line of the output.
    private struct Line: Decodable, Equatable {
        let online: Bool
        let reason: String
    }

    /// An event of the queue.
    fileprivate enum QueueEvent: Equatable {
        case held(String)
        case released
        case counts(QueueCounts)
    }

    private static func lines(_ texts: [String]) -> [Line] {
        texts.compactMap { try? JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    private func notes(of manager: URLSessionManager) -> (EventLog<QueueEvent>, Task<Void, Never>) {
        let log = EventLog<QueueEvent>()
        let events = manager.events
        let reading = Task {
            for await event in events {
                switch event {
                case .held(_, .network(let sentence)): log.append(.held(sentence))
                case .released: log.append(.released)
                case .queueChanged(let counts): log.append(.counts(counts))
                default: break
                }
            }
        }
        return (log, reading)
    }

    @Test(
        "each wait and each going on, with the counts in the stream of events",
        arguments: [
            (TwoPaths.Cut.carrierLost, "link set pa up"), (.routeDeleted, ""), (.linkDown, ""),
        ])
    func each(_ cut: TwoPaths.Cut, _ mendsFar: String) async throws {
        let paths = try await TwoPaths()
        let near = paths.lab.near
        // With one path, its loss is the only event.
        try await near.ip("route del default via 10.2.0.1")
        let watch = try await near.start([BuiltProgram.reach, "watch", "--json"])
        defer { watch.terminate() }
        await watch.output.wait { Self.lines($0).last?.online == true }

        let reactor = near.reactor
        var environment = MonitorEnvironment.kernel
        environment.reactor = { () throws(ReachabilityError) -> Reactor in reactor }
        let monitor = ReachabilityManager(.general, .init(), .own, environment)
        monitor.startMonitoring()
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        var settings = RequestQueue.Settings()
        settings.follows = .provider(monitor)
        let manager = URLSessionManager(
            configuration: configuration, securityPolicy: .default, on: reactor, queue: settings)
        let (log, reading) = notes(of: manager)
        defer { reading.cancel() }
        let request = try SessionRequest(paths.base + "/quick")
        let first = try manager.dataTask(with: request)
        first.resume()
        #expect(await first.outcome().error == nil)

        for round in 1...2 {
            let (seen, reported) = (log.elements.count, watch.output.elements.count)
            try await paths.cut(cut)
            await watch.output.wait { Self.lines(Array($0.dropFirst(reported))).contains { !$0.online } }
            let task = try manager.dataTask(with: request)
            task.resume()
            let held = await log.wait {
                $0.dropFirst(seen).contains { if case .held = $0 { true } else { false } }
            }
            guard
                case .held(let sentence)? = held.dropFirst(seen).first(where: {
                    if case .held = $0 { true } else { false }
                })
            else { return #expect(Bool(false), "\(held)") }
            let lost = await watch.output.wait {
                Self.lines(Array($0.dropFirst(reported))).contains(Line(online: false, reason: sentence))
            }
            #expect(
                Self.lines(lost).contains(Line(online: false, reason: sentence)), "\(sentence): \(lost)")
            await log.wait { $0.dropFirst(seen).contains { $0.isWaiting } }

            let before = watch.output.elements.count
            if !mendsFar.isEmpty { try await paths.lab.far.ip(mendsFar) }
            try await near.ip("link set a0 up")
            try await near.ip("route replace default via 10.1.0.1 dev a0 metric 100")
            let back = await watch.output.wait {
                Self.lines(Array($0.dropFirst(before))).contains { $0.online }
            }
            #expect(Self.lines(Array(back.dropFirst(before))).contains { $0.online }, "round \(round)")
            #expect(await task.outcome().error == nil)
            let all = await log.wait {
                $0.dropFirst(seen).contains(.released) && $0.last == .counts(QueueCounts())
            }
            // The wait, its counts, its end, and the count of none, in this order.
            let rest = Array(all.dropFirst(seen))
            let moments = [
                rest.firstIndex(of: .held(sentence)), rest.firstIndex { $0.isWaiting },
                rest.firstIndex(of: .released), rest.lastIndex(of: .counts(QueueCounts())),
            ].compactMap { $0 }
            #expect(moments.count == 4 && moments == moments.sorted(), "\(rest)")
        }
        manager.invalidate()
        monitor.stopMonitoring()
    }
}

extension WatchBesideQueueTests.QueueEvent {
    /// Whether the event is a wait for the network.
    fileprivate var isWaiting: Bool {
        if case .counts(let counts) = self { counts.waitingForNetwork == 1 } else { false }
    }
}
