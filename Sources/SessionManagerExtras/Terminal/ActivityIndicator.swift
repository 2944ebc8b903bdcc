// SPDX-License-Identifier: Apache-2.0

public import Reachability
public import SessionManager
import Synchronization

/// Shows when a program is busy with requests: by a light on a device, a spinner, a state on a socket.
///
///     let indicator = ActivityIndicator { led.isOn = $0 }
///     indicator.follow(manager)
///     indicator.isEnabled = true
///
/// It comes on when something has been under way for a second, and goes off when nothing has for a sixth of
/// one. Off until it is enabled; counting continues meanwhile. From any thread.
public final class ActivityIndicator: Sendable {
    private struct State: ~Copyable {
        var machine: ActivityStateMachine
        var calls = PendingCalls<Bool>()
        var followed: [Task<Void, Never>] = []
    }

    private let state: Mutex<State>
    private let clock: any Clock<Duration>
    private let queue: DeliveryQueue
    private let action: @Sendable (Bool) -> Void

    /// An indicator.
    ///
    /// - Parameters:
    ///   - activationDelay: how long something has to be under way until it comes on; 1 s.
    ///   - completionDelay: how long nothing has to be under way until it goes off; 170 ms.
    ///   - clock: what the delays are measured on.
    ///   - queue: where `action` is called.
    ///   - action: called with true and false in turn, once for each change.
    public init(
        activationDelay: Duration = .seconds(1), completionDelay: Duration = .milliseconds(170),
        clock: any Clock<Duration> = ContinuousClock(), queue: DeliveryQueue = .own,
        action: @escaping @Sendable (Bool) -> Void
    ) {
        self.clock = clock
        self.queue = queue
        self.action = action
        let machine = ActivityStateMachine(activationDelay: activationDelay, completionDelay: completionDelay)
        state = Mutex(State(machine: machine))
    }

    deinit { state.withLock { state in for task in state.followed { task.cancel() } } }

    /// Whether it may be on; false at first.
    ///
    /// Switching it off takes effect at once.
    public var isEnabled: Bool {
        get { state.withLock { $0.machine.isOn } }
        set { change { $0.enabled(newValue) } }
    }

    /// Whether it is on.
    public var isVisible: Bool { state.withLock { $0.machine.isVisible } }
    /// How many running tasks and other activities there are.
    public var activityCount: Int { state.withLock { $0.machine.count } }

    /// Begins an activity that is no task of a manager.
    public func increment() { change { $0.incremented() } }
    /// Ends one such activity; ignored if none runs.
    public func decrement() { change { $0.decremented() } }

    /// Counts the running tasks of a manager, for as long as this object lives.
    public func follow(_ manager: URLSessionManager) {
        // In this order: what ends after the look at the running ones is among the events.
        let events = manager.events
        for task in manager.tasks where task.state == .running {
            change { $0.began(task: task.identifier) }
        }
        let following = Task { [weak self] in
            for await event in events { self?.handle(event) }
        }
        state.withLock { $0.followed.append(following) }
    }

    private func handle(_ event: SessionEvent) {
        switch event {
        case .resumed(let task), .released(let task): change { $0.began(task: task.identifier) }
        case .suspended(let task), .held(let task, _), .completed(let task, _):
            change { $0.ended(task: task.identifier) }
        case .queueChanged, .downloadMoved, .downloadMoveFailed, .invalidated: break
        }
    }

    private func change(_ event: (inout ActivityStateMachine) -> ActivityStateMachine.Answer) {
        let (timer, delivers) = state.withLock { state -> ((Int, Duration)?, Bool) in
            switch event(&state.machine) {
            case .nothing: return (nil, false)
            case .armTimer(let number, let delay): return ((number, delay), false)
            case .show: state.calls.values.append(true)
            case .hide: state.calls.values.append(false)
            }
            return (nil, state.calls.begin())
        }
        if let (number, delay) = timer {
            let clock = clock
            Task { [weak self] in
                try? await clock.sleep(for: delay)
                self?.change { $0.timerFired(number) }
            }
        }
        if delivers { queue.submit { self.deliver() } }
    }

    private func deliver() { while let next = state.withLock({ $0.calls.next() }) { action(next) } }
}
