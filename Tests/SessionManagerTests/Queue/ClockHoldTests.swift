// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
import ReachTesting
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Tasks whose server's certificate is not valid by a clock that nothing keeps right.
@Suite(.timeLimit(.minutes(10)))
struct ClockHoldTests {
    @Test(
        "UPL-153 a request that a wrong clock fails waits, says why, and goes on when the clock is set",
        arguments: [HTTPRequest.Method.get, .post])
    func resumes(_ method: HTTPRequest.Method) async throws {
        let lab = try await ClockLab()
        let key = "clock-\(method.rawValue.lowercased())-\(lab.port.port)"
        let body = method == .post ? RequestBody.data(Data("hello".utf8)) : nil
        let path = method == .post ? "/post?key=\(key)" : "/get?key=\(key)"
        let task = try lab.task(lab.request(path, method, body: body))
        #expect(await lab.held.wait(forCount: 1) == [.clock])
        #expect(task.waitingReason == .clock && task.state == .running && task.isHeld)
        #expect(lab.clock.timer.watched == 1)
        lab.becomeValid()
        lab.clock.set()
        let outcome = await task.outcome()
        #expect(outcome.error == nil && outcome.response?.statusCode == 200)
        #expect(try await lab.origin.count(key) == 1)
        #expect(lab.port.count == 2)
        #expect(lab.held.elements == [.clock])
    }

    @Test(
        "UPL-154 still not valid when the clock was set: it waits again, or fails where something keeps it right"
    )
    func stillInvalid() async throws {
        let lab = try await ClockLab()
        let task = try lab.task(lab.request())
        await lab.held.wait(forCount: 1)
        lab.clock.set(isSynchronized: false)
        #expect(await lab.held.wait(forCount: 2) == [.clock, .clock])
        #expect(lab.clock.timer.opened == 2)
        lab.clock.set()
        #expect(await task.outcome().error?.code == .certificateNotYetValid)
        #expect(lab.port.count == 3 && lab.clock.timer.watched == 0)
    }

    enum Reason: CaseIterable { case synchronized, switchedOff, impatient, noDescriptor, expired, pinned }

    @Test(
        "UPL-155 the failure is the end at once where nothing says that the clock will help",
        arguments: Reason.allCases)
    func fails(_ reason: Reason) async throws {
        let lab = try await ClockLab(
            at: reason == .expired ? .expired : .future, pinning: reason == .pinned ? .certificate : .none
        ) {
            $0.waitsForClock = reason != .switchedOff
        }
        if reason == .synchronized { lab.clock.show(40, isSynchronized: true) }
        lab.clock.timer.refuse(reason == .noDescriptor)
        let task = try lab.task(lab.request()) { $0.waitsForNetwork = reason != .impatient }
        let code = await task.outcome().error?.code
        #expect(code == (reason == .expired ? .certificateHasBadDate : .certificateNotYetValid))
        #expect(lab.held.elements.isEmpty || reason == .impatient)
        #expect(lab.port.count == 1)
    }

    @Test("UPL-155 hosts of this machine are not waited for")
    func thisMachine() async throws {
        let lab = try await ClockLab()
        let task = try lab.task(SessionRequest("https://localhost:\(lab.port.port)/get"))
        #expect(await task.outcome().error?.code == .certificateNotYetValid)
        #expect(lab.held.elements.isEmpty)
    }

    @Test("UPL-157 a limit for waiting ends with the failure that it waits for")
    func limit() async throws {
        let lab = try await ClockLab { $0.offlineLimit = .milliseconds(20) }
        let task = try lab.task(lab.request())
        #expect(await task.outcome().error?.code == .certificateNotYetValid)
        #expect(lab.held.elements == [.clock] && lab.port.count == 1)
    }

    @Test("UPL-158 an expired certificate is waited for where the clock is absurdly ahead")
    func ahead() async throws {
        let lab = try await ClockLab(at: .expired)
        lab.clock.show(4_080_000_000)
        let task = try lab.task(lab.request())
        #expect(await lab.held.wait(forCount: 1) == [.clock])
        lab.becomeValid()
        lab.clock.set()
        #expect(await task.outcome().error == nil)
    }

    @Test("UPL-158 pins beside the trust roots change nothing: the chain is verified by the clock")
    func pinnedKey() async throws {
        let lab = try await ClockLab(pinning: .publicKey)
        let task = try lab.task(lab.request())
        #expect(await lab.held.wait(forCount: 1) == [.clock])
        lab.becomeValid()
        lab.clock.set()
        #expect(await task.outcome().error == nil)
    }

    @Test(
        "UPL-159 many wait with one timer; other requests pass, and a switch or a cancellation ends the wait")
    func several() async throws {
        let lab = try await ClockLab()
        var tasks: [SessionTask] = []
        for _ in 0..<5 { tasks.append(try lab.task(lab.request())) }
        // Before it, four wait for the connection of the first.
        await lab.held.wait { reasons in reasons.filter { $0 == .clock }.count == 5 }
        #expect(lab.clock.timer.opened == 1 && lab.clock.timer.watched == 1)
        tasks[0].cancel()
        #expect(await tasks[0].outcome().error?.code == .cancelled)
        // The server is asked whatever others wait for.
        lab.becomeValid()
        var other = try lab.request()
        other.headerFields[.connection] = "close"
        #expect(await (try lab.task(other)).outcome().error == nil)
        #expect(tasks[1].waitingReason == .clock)
        lab.port.lead(to: lab.origin.port(.future))
        lab.manager.queue.waitsForClock = false
        for task in tasks[1...] { #expect(await task.outcome().error?.code == .certificateNotYetValid) }
        #expect(lab.held.elements.filter { $0 == .clock }.count == 5)
    }

    @Test("UPL-160 what waits for the clock and loses the network waits for both")
    func network() async throws {
        let network = ScriptedNetwork(.wired)
        let lab = try await ClockLab { $0.follows = .provider(network) }
        let task = try lab.task(lab.request())
        await lab.held.wait(forCount: 1)
        lab.becomeValid()
        network.become(.unreachable)
        #expect(await lab.held.wait(forCount: 2).last == .network("eth0: no carrier"))
        lab.clock.set()
        network.become(.wired)
        #expect(await task.outcome().error == nil)
        #expect(lab.port.count == 2)
    }

    @Test("UPL-161 a probe over https tells that the clock is wrong, and asks again when it is set")
    func probe() async throws {
        let lab = try await ClockLab()
        var configuration = InternetProbeConfiguration(try lab.request("/status/204").url)
        configuration.timeout = .seconds(60)
        configuration.firstPause = .seconds(3600)
        configuration.longestPause = .seconds(3600)
        var policy = SecurityPolicy.default
        policy.trustRoots = .only(.file(lab.origin.pem(.root)))
        let probe = try InternetProbe(
            configuration, provider: ScriptedNetwork(.wired), session: lab.manager.configuration,
            securityPolicy: policy, on: Reactor.shared, clock: lab.clock.calls)
        let found = EventLog<InternetFindings>()
        let observation = probe.observeFindings { found.append($0) }
        defer { observation.cancel() }
        probe.start()
        let findings = await found.wait { $0.last?.state == .limited }.last
        let reason = findings?.uplinks.first?.reason ?? ""
        #expect(
            reason.hasPrefix("this machine's clock is not set: the certificate of origin.test is not valid"))
        lab.becomeValid()
        lab.clock.set()
        await found.wait { $0.last?.state == .full }
        #expect(lab.port.count == 2)
    }
}
