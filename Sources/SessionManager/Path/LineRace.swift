// SPDX-License-Identifier: Apache-2.0

import EventLoop
import ReachabilityCore
import SessionCore

/// Carries out what ``LineRaceStateMachine`` decides for the connections of one interface to one server; on
/// the loop's thread.
final class LineRace {
    /// A server behind a line.
    struct Server: Hashable {
        let peer: PeerAddress
        let interface: Int32
        let name: String
    }

    /// What the transfers of the connections have to do.
    enum Result {
        /// - Parameter losesLarge: Whether large packets alone are lost.
        case move(Uplink, losesLarge: Bool)
        case reconnect
        /// They wait for the internet.
        case lose
    }

    let server: Server
    /// Called where the tries end and nothing has to be done: with whether the server has answered over the
    /// own line.
    var onQuiet: ((Bool) -> Void)?
    private let reactor: Reactor
    private let control: any TransferControl
    private let onResult: (Result) -> Void
    private var machine = LineRaceStateMachine()
    private var uplinks: [Uplink] = []
    private var request: SessionRequest?
    /// Whether the own line answers small packets, and only the uplinks are tried.
    private var isElsewhere = false
    private var trials: [Transfer] = []
    private var tries: [ConnectTry] = []
    private var timer: TimerID?

    init(
        _ server: Server, on reactor: Reactor, control: any TransferControl,
        onResult: @escaping (Result) -> Void
    ) {
        self.server = server
        self.reactor = reactor
        self.control = control
        self.onResult = onResult
    }

    /// A connection is deaf at this look.
    func suspected(
        _ request: SessionRequest, over uplinks: [Uplink], wait: Int64, losesLarge: Bool = false
    ) {
        if !machine.isRacing {
            self.uplinks = uplinks.sorted { $0.precedes($1) }
            self.request = request
        }
        perform(
            machine.suspected(
                uplinks: uplinks.count, free: uplinks.count { !$0.isExpensive }, wait: wait,
                losesLarge: losesLarge, at: Reactor.now))
    }

    /// The connection is acknowledged again, or not used any more.
    func heard() { perform(machine.heard()) }

    func close() {
        cancelTimer()
        for trial in trials { control.cancel(trial) }
        trials = []
        for item in tries { item.close() }
        tries = []
    }

    private func perform(_ action: LineRaceStateMachine.Action) {
        switch action {
        case .nothing: break
        case .begin:
            isElsewhere = false
            tryOwnLine()
            tryUplinks()
        case .beginElsewhere:
            isElsewhere = true
            tryUplinks()
        case .tryOwnLine: tryOwnLine()
        case .end: close()
        case .move(let index):
            close()
            return onResult(.move(uplinks[index], losesLarge: isElsewhere))
        case .reconnect:
            close()
            return onResult(.reconnect)
        case .lose:
            close()
            return onResult(.lose)
        }
        setTimer()
    }

    private func tryUplinks() {
        guard let request else { return }
        for (index, uplink) in uplinks.enumerated() {
            let trial = control.tryServer(of: request, at: server.peer, over: uplink.name) {
                [weak self] succeeded in
                guard let self else { return }
                let now = Reactor.now
                let action = succeeded ? machine.answered(index, at: now) : machine.failed(index, at: now)
                perform(action)
                if action == .end { onQuiet?(false) }
            }
            trials.append(trial)
        }
    }

    private func tryOwnLine() {
        let item = ConnectTry(server.peer, over: server.name, on: reactor) { [weak self] in
            guard let self else { return }
            let action = machine.ownLineAnswered(at: Reactor.now)
            perform(action)
            if action == .end { onQuiet?(true) }
        }
        if let item { tries.append(item) }
    }

    private func setTimer() {
        cancelTimer()
        guard let deadline = machine.nextDeadline, deadline < .max else { return }
        timer = reactor.schedule(at: deadline) { [unowned self] in
            timer = nil
            perform(machine.timeCame(at: Reactor.now))
        }
    }

    private func cancelTimer() {
        if let timer = timer.take() { _ = reactor.cancel(timer) }
    }
}
