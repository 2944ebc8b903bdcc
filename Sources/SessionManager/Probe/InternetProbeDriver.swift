// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
import HTTPTypes
import Reachability
import ReachabilityCore
import SessionCore

/// Carries out what the machine of a probe decides, on the loop's thread: the network goes in, questions and
/// deadlines come out.
final class InternetProbeDriver {
    private let configuration: InternetProbeConfiguration
    private let provider: (any ReachabilityProvider)?
    private let manager: URLSessionManager
    private let reactor: Reactor
    private let onChange: @Sendable (InternetFindings) -> Void
    private let calls: ClockCalls
    private let isBindingRefused: @Sendable (String) -> Bool
    /// Made when a wrong clock may be why the server is not trusted.
    private var clock: ClockMonitor?
    private var machine: UplinkProbeStateMachine
    private var findings = InternetFindings()
    private var subscriptions: [InternetSubscription] = []
    private var observations: [ReachabilityObservation] = []
    private var update: ReachabilityUpdate?
    private var links: [LinkReport] = []
    /// When the states began by the wall clock and the boot clock, by the uplink's number.
    private var stamps: [Int: Stamp] = [:]
    /// What is known of the routers, by the uplink's number.
    private var routers: [Int: UplinkRouter] = [:]
    private var wanted: Set<String> = []
    private var isStarted = false
    private var timer: TimerID?
    private var tasks: [Int: SessionTask] = [:]
    /// What waits for the internet.
    private var waiting: Set<ObjectIdentifier> = []

    private struct Stamp {
        let since: Int64
        let wall: Int64
        let boot: Int64
    }

    init(
        _ configuration: InternetProbeConfiguration, provider: (any ReachabilityProvider)?,
        manager: URLSessionManager, reactor: Reactor, clock: ClockCalls,
        isBindingRefused: @escaping @Sendable (String) -> Bool,
        onChange: @escaping @Sendable (InternetFindings) -> Void
    ) {
        self.configuration = configuration
        self.provider = provider
        self.manager = manager
        self.reactor = reactor
        self.onChange = onChange
        calls = clock
        self.isBindingRefused = isBindingRefused
        machine = UplinkProbeStateMachine(timing: configuration.timing)
    }

    func start(_ me: LoopBound<InternetProbeDriver>) {
        guard !isStarted else { return }
        isStarted = true
        guard let provider else { return follow(machine.networkChanged(.init(), at: Reactor.now), me) }
        if let manager = provider as? ReachabilityManager {
            // Other links come and go without an update of the path in use.
            observations.append(manager.observeLinks { links in me.perform { $0.changed(links, me) } })
        }
        observations.append(provider.observeReachability { update in me.perform { $0.changed(update, me) } })
    }

    func stop() {
        guard isStarted else { return }
        isStarted = false
        clock = nil
        for observation in observations { observation.cancel() }
        observations = []
        (update, links) = (nil, [])
        follow(machine.stopped(at: Reactor.now), nil)
    }

    func close() {
        stop()
        for subscription in subscriptions { subscription.end() }
        subscriptions = []
        manager.invalidate()
    }

    func hurry(_ me: LoopBound<InternetProbeDriver>) {
        if isStarted { follow(machine.hurried(), me) }
    }

    func ask(about interface: String, _ me: LoopBound<InternetProbeDriver>) {
        if isStarted { follow(machine.asked(about: interface), me) }
    }

    func setPauses(_ timing: InternetProbeStateMachine.Timing, _ me: LoopBound<InternetProbeDriver>) {
        follow(machine.timingChanged(timing, at: Reactor.now), isStarted ? me : nil)
    }

    func setAwaited(_ isAwaited: Bool, by waiter: ObjectIdentifier, _ me: LoopBound<InternetProbeDriver>) {
        let former = waiting.isEmpty
        if isAwaited { waiting.insert(waiter) } else { waiting.remove(waiter) }
        guard waiting.isEmpty != former else { return }
        follow(machine.awaited(!waiting.isEmpty, at: Reactor.now), isStarted ? me : nil)
    }

    func ask(expensive names: Set<String>, _ me: LoopBound<InternetProbeDriver>) {
        guard names != wanted else { return }
        wanted = names
        networkChanged(me)
    }

    func add(_ subscription: InternetSubscription) {
        subscriptions.append(subscription)
        subscription.publish(findings)
    }

    func remove(_ subscription: InternetSubscription) { subscriptions.removeAll { $0 === subscription } }

    // MARK: The network

    private func changed(_ update: ReachabilityUpdate, _ me: LoopBound<InternetProbeDriver>) {
        self.update = update
        if !update.links.isEmpty { links = update.links }
        networkChanged(me)
    }

    private func changed(_ links: [LinkReport], _ me: LoopBound<InternetProbeDriver>) {
        self.links = links
        networkChanged(me)
    }

    private func networkChanged(_ me: LoopBound<InternetProbeDriver>) {
        // Reported before it was stopped, and arrived afterwards.
        guard isStarted, let update else { return }
        var network = UplinkProbeStateMachine.Network(update, links)
        network.wanted = wanted
        follow(machine.networkChanged(network, at: Reactor.now), me)
    }

    // MARK: What follows

    private func follow(_ step: UplinkProbeStateMachine.Step, _ me: LoopBound<InternetProbeDriver>?) {
        for number in step.abandoned { tasks.removeValue(forKey: number)?.cancel() }
        arm(me)
        publish()
        guard let me else { return }
        for question in step.questions { ask(question, me) }
    }

    private func publish() {
        let former = findings
        findings = found()
        onChange(findings)
        let isNews = findings.differs(from: former)
        guard isNews || findings != former else { return }
        for subscription in subscriptions where isNews || subscription.hearsAnswers {
            subscription.publish(findings)
        }
    }

    private func found() -> InternetFindings {
        let all = machine.findings
        let now = (Reactor.now, WallClock.nanoseconds, clinux_boot_nanoseconds())
        var known: [Int: Stamp] = [:]
        var new = InternetFindings()
        for finding in all {
            let age = now.0 &- finding.since
            let stamp =
                stamps[finding.number].flatMap { $0.since == finding.since ? $0 : nil }
                ?? Stamp(since: finding.since, wall: now.1 &- age, boot: now.2 &- age)
            known[finding.number] = stamp
            if finding.isPreferred {
                (new.state, new.portalURL) = (finding.known.state, finding.known.portalURL)
            }
            guard let uplink = finding.uplink else { continue }
            var internet = UplinkInternet(
                interface: uplink.name, isPreferred: finding.isPreferred, finding.known,
                wall: stamp.wall, boot: stamp.boot,
                router: routers[finding.number] ?? uplink.gateway.map { UplinkRouter(address: $0) })
            internet.answers = finding.answers
            internet.traits = uplink.traits
            new.uplinks.append(internet)
        }
        stamps = known
        routers = routers.filter { known[$0.key] != nil }
        return new
    }

    private func arm(_ me: LoopBound<InternetProbeDriver>?) {
        if let timer { reactor.cancel(timer) }
        timer = nil
        guard let me, let deadline = machine.nextDeadline else { return }
        timer = reactor.schedule(at: deadline) { [unowned self] in
            timer = nil
            follow(machine.timeCame(at: Reactor.now), me)
        }
    }

    // MARK: Questions

    private func ask(_ question: UplinkProbeStateMachine.Question, _ me: LoopBound<InternetProbeDriver>) {
        // libcurl would bind to an address alone, and ask over the line that the kernel chooses.
        if let name = question.interface, isBindingRefused(name) {
            return answered(
                InternetAnswer(
                    .unknown,
                    "not asked: this kernel binds no socket to an interface without privileges"),
                question, me)
        }
        send(configuration.request, question) { outcome, error in
            me.perform { $0.ended(outcome, error, question, me) }
        }
    }

    /// Asks the network as well, where its address for that is known: for the page to sign in.
    private func ended(
        _ outcome: TaskOutcome?, _ error: SessionError?, _ question: UplinkProbeStateMachine.Question,
        _ me: LoopBound<InternetProbeDriver>
    ) {
        guard isStarted else { return }
        let answer = configuration.expectation.answer(
            outcome?.response, data: outcome?.data, error: error, url: configuration.url,
            timeout: configuration.timeout, isForClock: error.map { isForClock($0, me) } ?? false)
        let uplink = machine.findings.first { $0.number == question.id.uplink }?.uplink
        guard machine.isAsking(question.id), answer.wantsPortal, let index = uplink?.index,
            let url = CaptivePortal.address(
                LeaseFiles(root: configuration.systemRoot).link(index).value("CAPTIVE_PORTAL"))
        else { return answered(answer, question, me) }
        send(configuration.portalRequest(url), question) { outcome, error in
            let portal = error == nil ? CaptivePortal(outcome?.response, outcome?.data) : nil
            me.perform { $0.answered(answer.joined(with: portal), question, me) }
        }
    }

    private func send(
        _ request: SessionRequest, _ question: UplinkProbeStateMachine.Question,
        _ completion: @escaping @Sendable (TaskOutcome?, SessionError?) -> Void
    ) {
        var options = TaskOptions()
        options.redirectHandler = Redirector.doNotFollow
        do throws(SessionError) {
            var request = request
            request.options.interface = question.interface
            let task = try manager.dataTask(with: request, options: options)
            tasks[question.id.uplink] = task
            task.whenEnded { completion($0, $0.error) }
            task.resume()
        } catch {
            completion(nil, error)
        }
    }

    private func answered(
        _ answer: InternetAnswer, _ question: UplinkProbeStateMachine.Question,
        _ me: LoopBound<InternetProbeDriver>
    ) {
        guard isStarted else { return }
        let number = question.id.uplink
        routers[number] = answer.state == .limited ? router(of: number) : nil
        let step = machine.answered(answer, question.id, at: Reactor.now)
        if !step.questions.contains(where: { $0.id.uplink == number }) { tasks[number] = nil }
        follow(step, me)
    }

    /// Whether a wrong clock explains an error; the server is asked again when it is set.
    private func isForClock(_ error: SessionError, _ me: LoopBound<InternetProbeDriver>) -> Bool {
        guard ClockStatus.concerns(error) else { return false }
        let clock = clock ?? ClockMonitor(calls, on: reactor) { [unowned self] in hurry(me) }
        self.clock = clock
        return clock.explains(error)
    }

    /// What the kernel knows of an uplink's router now, after it had to forward a question.
    private func router(of number: Int) -> UplinkRouter? {
        guard let uplink = machine.findings.first(where: { $0.number == number })?.uplink,
            let gateway = uplink.gateway, let address = IPAddress(gateway)
        else { return nil }
        let standing: UplinkRouter.Standing =
            switch NeighborTable.answers(address, on: uplink.index) {
            case true?: .answers
            case false?: .silent
            case nil: .unknown
            }
        return UplinkRouter(address: gateway, standing: standing)
    }
}

/// The wall clock (CLOCK_REALTIME).
enum WallClock {
    static var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
