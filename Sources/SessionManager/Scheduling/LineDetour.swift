// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore

/// The way around a dead line, and the tries that end it, as ``UplinkStateMachine`` decides; on the loop's
/// thread.
final class LineDetour {
    private let reactor: Reactor
    private let onChange: () -> Void
    private var machine = UplinkStateMachine()
    /// What found the dead line, and the request that it was carrying: its server is tried.
    private weak var engine: TransferEngine?
    private var request: SessionRequest?
    private var trial: Transfer?
    private var timer: TimerID?

    /// - Parameter onChange: called when ``current`` has changed.
    init(on reactor: Reactor, onChange: @escaping () -> Void) {
        self.reactor = reactor
        self.onChange = onChange
    }

    /// What goes over the line of another interface; nil while the kernel's choice holds.
    var current: Detour? { machine.detour }

    /// An engine has found a dead line, and the way that works.
    func found(_ detour: Detour, by engine: TransferEngine, for request: SessionRequest) {
        self.engine = engine
        self.request = UplinkTrial.request(like: request)
        perform(machine.lineDied(detour, at: Reactor.now))
    }

    /// The kernel's choice is this now.
    func networkChanged(_ facts: NetworkFacts) {
        perform(machine.networkChanged(interface: facts.interface, generation: facts.generation))
    }

    func end() { perform(machine.ended()) }

    func close() {
        if let timer = timer.take() { _ = reactor.cancel(timer) }
        if let trial = trial.take() { engine?.cancel(trial) }
    }

    private func perform(_ action: UplinkStateMachine.Action) {
        switch action {
        case .nothing: break
        case .tryLine(let detour): tryLine(detour)
        case .changed:
            close()
            onChange()
        }
        setTimer()
    }

    private func tryLine(_ detour: Detour) {
        guard let engine, let request else { return perform(machine.ended()) }
        trial = engine.tryServer(of: request, at: nil, over: detour.line) { [weak self] succeeded in
            guard let self else { return }
            trial = nil
            perform(machine.tried(succeeded, at: Reactor.now))
        }
    }

    private func setTimer() {
        if let timer = timer.take() { _ = reactor.cancel(timer) }
        guard let deadline = machine.nextDeadline else { return }
        timer = reactor.schedule(at: deadline) { [unowned self] in
            timer = nil
            perform(machine.timeCame(at: Reactor.now))
        }
    }
}
