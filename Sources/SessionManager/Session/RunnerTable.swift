// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore

/// The runners of a session's tasks and the engine they share; on the loop's thread.
final class RunnerTable {
    let reactor: Reactor
    let configuration: SessionConfiguration
    let policy: SecurityPolicy
    /// Whether a delegate is asked about servers.
    let asks: Bool
    private var engine: TransferEngine?
    private var runners: [Int: TaskRunner] = [:]

    init(reactor: Reactor, configuration: SessionConfiguration, policy: SecurityPolicy, asks: Bool) {
        self.asks = asks
        self.policy = policy
        self.reactor = reactor
        self.configuration = configuration
    }

    func start(_ task: SessionTask) {
        // Cancelled by the loop's own thread before the message of another one arrived.
        guard task.state != .completed else { return }
        do throws(SessionError) {
            let engine = try currentEngine()
            let runner = TaskRunner(task, engine: engine, table: self)
            runners[task.identifier] = runner
            runner.start()
        } catch {
            task.finish(TaskOutcome(error: error))
        }
    }

    private func currentEngine() throws(SessionError) -> TransferEngine {
        if let engine { return engine }
        let new = try TransferEngine(
            reactor: reactor, configuration: configuration, policy: policy, asks: asks)
        engine = new
        return new
    }

    func stop(_ task: SessionTask) {
        if let runner = runners[task.identifier] {
            runner.end(task.cancelledError)
        } else {
            task.finish(TaskOutcome(error: task.cancelledError))
        }
    }

    /// A runner has completed its task.
    func ended(_ runner: TaskRunner) { runners[runner.task.identifier] = nil }

    /// The connection of a running task is dead; the sentence says why.
    ///
    /// The task is parked, and goes on when there is a path that it may use, which is now where another one is up.
    func lostPath(_ runner: TaskRunner, _ sentence: String) {
        guard !runner.isOver, !runner.isParked else { return }
        runner.park()
        runner.goOn(over: binding(for: runner.request))
    }

    /// What the sockets of a request that leaves now are bound to.
    func binding(for request: SessionRequest) -> PathBinding { .any }

    func setSuspended(_ task: SessionTask, _ isSuspended: Bool) {
        runners[task.identifier]?.setSuspended(isSuspended)
    }

    func close() {
        runners = [:]
        engine?.close()
        engine = nil
    }
}
