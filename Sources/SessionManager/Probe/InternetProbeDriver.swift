// SPDX-License-Identifier: Apache-2.0

import EventLoop
import HTTPTypes
import Reachability
import SessionCore

/// What a probe does, on the loop's thread: the paths go into the machine, questions and deadlines come out.
final class InternetProbeDriver {
    private let configuration: InternetProbeConfiguration
    private let provider: (any ReachabilityProvider)?
    private let manager: URLSessionManager
    private let reactor: Reactor
    private let onChange: @Sendable (InternetState) -> Void
    private var machine: InternetProbeStateMachine
    private var state = InternetState.unknown
    private var subscriptions: [InternetSubscription] = []
    private var observation: ReachabilityObservation?
    private var isStarted = false
    private var timer: TimerID?
    private var task: SessionTask?

    init(
        _ configuration: InternetProbeConfiguration, provider: (any ReachabilityProvider)?,
        manager: URLSessionManager, reactor: Reactor, onChange: @escaping @Sendable (InternetState) -> Void
    ) {
        self.configuration = configuration
        self.provider = provider
        self.manager = manager
        self.reactor = reactor
        self.onChange = onChange
        machine = InternetProbeStateMachine(timing: configuration.timing)
    }

    func start(_ me: LoopBound<InternetProbeDriver>) {
        guard !isStarted else { return }
        isStarted = true
        guard let provider else { return follow(machine.pathChanged(isUsable: true, generation: 0), me) }
        observation = provider.observeReachability { update in
            me.perform { $0.changed(update, me) }
        }
    }

    func stop() {
        guard isStarted else { return }
        isStarted = false
        observation?.cancel()
        observation = nil
        let step = machine.stopped()
        if step.abandons { abandon() }
        arm(nil, nil)
        publish(step.state)
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

    func add(_ subscription: InternetSubscription) {
        subscriptions.append(subscription)
        subscription.publish(state)
    }

    func remove(_ subscription: InternetSubscription) { subscriptions.removeAll { $0 === subscription } }

    private func changed(_ update: ReachabilityUpdate, _ me: LoopBound<InternetProbeDriver>) {
        // Reported before it was stopped, and arrived afterwards.
        guard isStarted else { return }
        let path = update.path
        // Unknown: asking finds it out. With an alternative the transfer goes over that.
        let isUsable = path.isOnline || update.status == .unknown || path.alternative != nil
        follow(machine.pathChanged(isUsable: isUsable, generation: path.generation), me)
    }

    private func follow(
        _ step: InternetProbeStateMachine.Step, _ me: LoopBound<InternetProbeDriver>
    ) {
        if step.abandons { abandon() }
        arm(step.deadline, me)
        publish(step.state)
        if let question = step.question { ask(question, me) }
    }

    private func abandon() {
        task?.cancel()
        task = nil
    }

    private func publish(_ new: InternetState?) {
        guard let new, new != state else { return }
        state = new
        onChange(new)
        for subscription in subscriptions { subscription.publish(new) }
    }

    private func arm(_ deadline: Int64?, _ me: LoopBound<InternetProbeDriver>?) {
        if let timer { reactor.cancel(timer) }
        timer = nil
        guard let deadline, let me else { return }
        timer = reactor.schedule(at: deadline) { [unowned self] in
            timer = nil
            follow(machine.timeCame(at: Reactor.now), me)
        }
    }

    private func ask(_ question: Int, _ me: LoopBound<InternetProbeDriver>) {
        var options = TaskOptions()
        options.redirectHandler = Redirector.doNotFollow
        do throws(SessionError) {
            let task = try manager.dataTask(with: configuration.request, options: options)
            self.task = task
            let expectation = configuration.expectation
            task.whenEnded { outcome in
                let answer = expectation.judge(outcome.response, data: outcome.data, error: outcome.error)
                me.perform { $0.answered(answer, question, me) }
            }
            task.resume()
        } catch {
            let answer = configuration.expectation.judge(nil, data: nil, error: error)
            me.perform { $0.answered(answer, question, me) }
        }
    }

    private func answered(
        _ answer: InternetState, _ question: Int, _ me: LoopBound<InternetProbeDriver>
    ) {
        guard isStarted else { return }
        let step = machine.answered(answer, question: question, at: Reactor.now)
        if step.deadline != nil { task = nil }
        follow(step, me)
    }
}
