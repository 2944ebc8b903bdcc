// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import Reachability
import ReachabilityCore
import Service
import ServiceCore
import SessionCore
import Synchronization
import TestSupport
import Testing

/// How the service notifies its components, and how it ends.
@Suite("The service", .timeLimit(.minutes(10)))
struct ServiceLifeTests {
    /// A component that records its notifications; on the loop's thread.
    private final class Part: ServiceComponent {
        let name: String
        let diary: EventLog<String>
        let failure: ServiceError?
        let answersStop: Bool
        var startsFirst: Bool { name == "first" }

        init(
            _ name: String, _ diary: EventLog<String>, failure: ServiceError? = nil, answersStop: Bool = true
        ) {
            self.name = name
            self.diary = diary
            self.failure = failure
            self.answersStop = answersStop
        }

        func start(_ context: ServiceContext) throws(ServiceError) {
            diary.append("\(name) start")
            if let failure { throw failure }
        }

        func statusChanged(_ change: CommittedChange) {
            let since = change.since == nil ? "" : " since"
            diary.append(
                "\(name) \(change.event) \(change.status) \(change.previous?.description ?? "-")\(since)")
        }

        func reload(_ configuration: ServiceConfiguration) {
            diary.append("\(name) reload \(configuration.log.level.name) \(configuration.socket)")
        }

        func internetChanged(_ change: CommittedChange) {
            diary.append("\(name) internet \(change.internet?.rawValue ?? "-") \(change.status)")
        }

        func stop(_ done: @escaping () -> Void) {
            diary.append("\(name) stop")
            if answersStop { done() }
        }
    }

    private let reactor: Reactor
    private let kernel: FakeKernel
    private let diary = EventLog<String>()

    init() throws {
        reactor = try Reactor(name: "service-life")
        kernel = FakeKernel(.wired, reactor: reactor)
    }

    private func service(
        reread: (@Sendable () -> ConfigurationReader)? = nil,
        _ parts: @escaping @Sendable (EventLog<String>) -> [(String, ServiceError?, Bool)]
    ) async throws -> LoopBound<Service> {
        try await reactor.result { [reactor, kernel, diary] in
            var configuration = ReachabilityConfiguration()
            configuration.timing.lossGrace = .zero
            configuration.timing.evaluationInterval = .zero
            let manager = kernel.manager(.general, configuration, queue: .onLoop(reactor))
            let context = ServiceContext(
                reactor: reactor, manager: manager, stateDirectory: "/nowhere",
                log: { diary.append("log: \($1)") })
            let components = parts(diary).map { Part($0.0, diary, failure: $0.1, answersStop: $0.2) }
            return LoopBound(Service(context: context, components: components, reread: reread), to: reactor)
        }
    }

    @Test("UPL-407 SIGHUP that changes only the probe's pauses forgets nothing; another status asks anew")
    func pauses() async throws {
        let rounds = Mutex(0)
        let service = try await reactor.result { [reactor, kernel, diary] in
            let manager = kernel.manager(.general, ReachabilityConfiguration(), queue: .onLoop(reactor))
            let context = ServiceContext(
                reactor: reactor, manager: manager, stateDirectory: "/nowhere",
                log: { diary.append("log: \($1)") })
            var settings = ServiceConfiguration.Probe()
            // Nothing listens there.
            settings.url = "http://127.0.0.1:1/"
            let parts: [any ServiceComponent] = [InternetService(settings), Part("a", diary)]
            return LoopBound(
                Service(context: context, components: parts) {
                    let round = rounds.withLock { rounds in
                        rounds += 1
                        return rounds
                    }
                    var reader = ConfigurationReader()
                    let text = """
                        [probe]
                        url = "http://127.0.0.1:1/"
                        interval = "20m"
                        retry = "1h"
                        expensive-interval = "2h"

                        """
                    reader.read(file: "reach.toml", Array((text + (round > 1 ? "status = 204\n" : "")).utf8))
                    reader.finish()
                    return reader
                }, to: reactor)
        }
        service.perform { try? $0.start() }
        await diary.wait { $0.contains("a internet limited wired") }
        func reported() -> [String] { diary.elements.filter { $0.hasPrefix("a internet") } }
        let count = reported().count
        service.perform { $0.reload() }
        await diary.wait { $0.contains { $0.hasPrefix("a reload") } }
        // What the probe would have reported has arrived then.
        try await Reactor.shared.result {}
        try await reactor.result {}
        #expect(reported().count == count && reported().last == "a internet limited wired")
        service.perform { $0.reload() }
        await diary.wait { $0.count { $0 == "a internet limited wired" } > 1 }
        #expect(reported().contains("a internet - wired"))
        service.perform { [diary] service in
            service.whenEnded { diary.append("ended") }
            service.stop()
        }
        await diary.wait { $0.contains("ended") }
    }

    @Test("FLD-109 what fails where another service runs starts first, and is notified in its own turn")
    func first() async throws {
        let service = try await service { _ in [("a", nil, true), ("first", nil, true)] }
        service.perform { [diary] service in
            try? service.start()
            service.whenEnded { diary.append("ended") }
            service.stop()
        }
        let elements = await diary.wait { $0.contains("ended") }
        #expect(elements.filter { $0.hasSuffix("start") } == ["first start", "a start"])
        #expect(elements.filter { $0.contains("initial") }.map { $0.prefix(2) } == ["a ", "fi"])
        #expect(elements.suffix(3) == ["first stop", "a stop", "ended"])

        let error = ServiceError("another service answers")
        let refused = try await self.service { _ in [("a", nil, true), ("first", error, true)] }
        refused.perform { [diary] service in
            try? service.start()
            diary.append("refused")
        }
        let rest = await diary.wait { $0.contains("refused") }.dropFirst(elements.count)
        #expect(rest == ["first start", "refused"])
    }

    @Test("components are started in order, notified in order, and stopped in reverse; then it has ended")
    func life() async throws {
        let service = try await service { _ in [("a", nil, true), ("b", nil, true)] }
        service.perform { try? $0.start() }
        #expect(
            await diary.wait(forCount: 4) == [
                "a start", "b start", "a initial wired -", "b initial wired -",
            ])
        kernel.change { $0.setCarrier($0.index("eth0"), false) }
        let reported = await diary.wait { $0.contains { $0.hasPrefix("b status") } }
        #expect(reported.contains("a status unreachable wired since"))
        let count = reported.count
        service.perform { [diary] service in
            service.reload()
            service.whenEnded { diary.append("ended") }
            service.stop()
            service.stop()
        }
        #expect(
            await Array(diary.wait { $0.contains("ended") }.dropFirst(count)) == [
                "a reload info \(ServicePaths.socket)", "b reload info \(ServicePaths.socket)", "b stop",
                "a stop", "ended",
            ])
    }

    @Test(
        "SIGHUP: what can change is in force, the rest is named; a wrong file changes nothing and says where")
    func configuration() async throws {
        let texts = EventLog<String>()
        let service = try await service(reread: {
            var reader = ConfigurationReader()
            reader.read(file: "reach.toml", Array((texts.elements.last ?? "").utf8))
            return reader
        }) { _ in [("a", nil, true)] }
        service.perform { try? $0.start() }
        func reload(_ text: String) async -> [String] {
            texts.append(text)
            let before = diary.elements.count
            service.perform { $0.reload() }
            return Array(
                await diary.wait { $0.dropFirst(before).contains { $0.hasPrefix("a reload") } }.dropFirst(
                    before))
        }
        _ = await diary.wait(forCount: 2)
        let file = "socket = \"/other\"\n[log]\nlevel = \"debug\"\n"
        #expect(
            await reload(file) == [
                "log: configuration: changed: log.level",
                "log: configuration: changed, but in force only after a restart: socket",
                "a reload debug \(ServicePaths.socket)",
            ])
        #expect(
            await reload("[log]\nlevel = \"loud\"\n[hooks]\ntimout = \"1s\"\n") == [
                "log: configuration: reach.toml:2: log.level: \"loud\" is not allowed; allowed is one of \"critical\", "
                    + "\"error\", \"warning\", \"notice\", \"info\", \"debug\"",
                "log: configuration: reach.toml:4: hooks.timout: unknown key; did you mean hooks.timeout?",
                "log: configuration: what was in force before stays so",
                "a reload debug \(ServicePaths.socket)",
            ])
        // Changes that are not in force are reported each time.
        #expect(
            await reload(file) == [
                "log: configuration: changed, but in force only after a restart: socket",
                "a reload debug \(ServicePaths.socket)",
            ])
        service.perform { $0.stop() }
    }

    @Test("the internet's state is reported once, and with each further change")
    func internet() async throws {
        let service = try await service { _ in [("a", nil, true)] }
        service.perform { try? $0.start() }
        _ = await diary.wait(forCount: 2)
        service.perform { service in
            service.context.notify(internet: .portal)
            service.context.notify(internet: .portal)
            service.context.notify(internet: .full)
        }
        let reported = await diary.wait { $0.contains("a internet full wired") }
        let found = reported.filter { $0.contains(" internet ") }
        #expect(found == ["a internet portal wired", "a internet full wired"])
        #expect(try await reactor.result { service.here { $0.context.current?.internet } } == .full)
        #expect(try await reactor.result { service.here { $0.context.current?.isInternet } } == false)
        service.perform { $0.stop() }
    }

    @Test("if a component cannot start, those before it are stopped and the error is reported")
    func failure() async throws {
        let error = ServiceError("/x: no")
        let service = try await service { _ in [("a", nil, true), ("b", error, true), ("c", nil, true)] }
        service.perform { [diary] service in
            do throws(ServiceError) { try service.start() } catch { diary.append("\(error)") }
            service.whenEnded { diary.append("ended") }
        }
        #expect(
            await diary.wait { $0.contains("ended") } == ["a start", "b start", "a stop", "/x: no", "ended"])
    }

    @Test("a part that does not end is not waited for for ever")
    func hangingPart() async throws {
        let service = try await service { _ in [("slow", nil, false)] }
        service.perform { [diary] service in
            try? service.start()
            service.whenEnded { diary.append("ended") }
            service.stop()
        }
        let lines = await diary.wait { $0.contains("ended") }
        #expect(lines.contains("log: stopped without waiting any longer for: slow"))
    }

    @Test("where the kernel refuses netlink, the service does not start and says so")
    func refused() async throws {
        let refusal = ReachabilityError(.netlinkRefused, errno: EPERM, context: "netlink", advice: "try")
        kernel.refuse(refusal)
        kernel.refuseEvents(refusal)
        let service = try await service { _ in [("a", nil, true)] }
        service.perform { [diary] service in
            do throws(ServiceError) { try service.start() } catch {
                diary.append(error.kind == .cannotMonitor ? "cannot monitor" : "\(error)")
            }
        }
        #expect(await diary.wait { $0.contains("cannot monitor") }.contains("cannot monitor"))
    }
}
