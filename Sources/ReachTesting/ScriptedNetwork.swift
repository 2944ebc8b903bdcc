// SPDX-License-Identifier: Apache-2.0

public import ReachabilityCore
public import SessionCore
public import SessionManager
import Synchronization

/// A network that is what a test says it is.
///
///     let network = ScriptedNetwork(.unreachable)
///     let manager = URLSessionManager(network: network) { _ in .status(204) }
///     network.become(.wifi)
///
/// Anything that takes `any ReachabilityProvider` follows it: a queue by `.provider(network)`, an outbox by
/// its manager, code of the program's own. Every member may be used from any thread.
public final class ScriptedNetwork: ReachabilityProvider {
    fileprivate struct State {
        var status: ReachabilityStatus
        var path: ReachabilityPath
        var observers: [Int: ScriptedObserver] = [:]
        var nextNumber = 0
        /// Reports on their way, in order.
        var reports: [(ScriptedObserver, ReachabilityUpdate)] = []
        var isReporting = false
        var internet = InternetState.full
        var probes: [WeakProbe] = []
    }

    fileprivate struct WeakProbe {
        weak var probe: InternetProbe?
    }

    private let state: Mutex<State>

    /// A network.
    ///
    /// - Parameter status: `unknown` holds no request, as a monitor that was not started.
    public init(_ status: ReachabilityStatus = .unknown) {
        state = Mutex(State(status: status, path: ScriptedPath(status).path(generation: 1)))
    }

    /// How many follow it.
    public var observerCount: Int { state.withLock { $0.observers.count } }

    /// Becomes another network, and notifies all observers before it returns.
    ///
    /// Called by an observer, or by two threads at once, it returns earlier; the order is kept.
    ///
    /// - Parameters:
    ///   - interface: the interface's name; nil for `wlan0`, `eth0`, or `wwan0` for a modem.
    ///   - medium: what kind of link it is; nil for what fits the status.
    ///   - isExpensive: whether traffic costs money or quota.
    ///   - isConstrained: whether data is to be saved.
    ///   - sentence: why there is no network, for instance `eth0: no carrier`; nil for that.
    public func become(
        _ status: ReachabilityStatus, interface: String? = nil, medium: Medium? = nil,
        isExpensive: Bool = false, isConstrained: Bool = false, because sentence: String? = nil
    ) {
        var script = ScriptedPath(status)
        script.interface = interface
        script.medium = medium
        script.isExpensive = isExpensive
        script.isConstrained = isConstrained
        script.sentence = sentence
        become(status, script)
    }

    private func become(_ status: ReachabilityStatus, _ script: ScriptedPath) {
        state.withLock { state in
            // Connections over another network are not trusted any more.
            let path = script.path(generation: state.path.generation + 1)
            let event: ReachabilityUpdate.Event = status == state.status ? .path : .status
            let update = ReachabilityUpdate(event: event, status: status, previous: state.status, path: path)
            (state.status, state.path) = (status, path)
            for (_, observer) in state.observers.sorted(by: { $0.key < $1.key }) {
                state.reports.append((observer, update))
            }
        }
        report()
    }

    /// Makes the reports that are due, one after the other.
    private func report() {
        while let (observer, update) = state.withLock({ $0.nextReport() }) {
            observer.report(update)
            state.withLock { $0.isReporting = false }
        }
    }

    /// The status and path that it has become.
    public func currentReachability() -> (status: ReachabilityStatus, path: ReachabilityPath) {
        state.withLock { ($0.status, $0.path) }
    }

    /// What the probes of this network find behind it; `full` at first.
    ///
    /// A change has them ask at once. As with a real network, only a second failure, one second after the
    /// first, ends ``SessionCore/InternetState/full``.
    public var internet: InternetState {
        get { state.withLock { $0.internet } }
        set {
            let probes = state.withLock { state in
                state.internet = newValue
                return state.probes.compactMap(\.probe)
            }
            for probe in probes { probe.check() }
        }
    }

    /// A probe that finds what ``internet`` says; it has to be started.
    ///
    /// - Parameter clock: a clock in whose time it lives, that of the manager; nil for real time.
    /// - Throws: ``SessionCore/SessionError/Code/outOfResources`` where no thread can be started.
    public func makeProbe(clock: ManualClock? = nil) throws(SessionError) -> InternetProbe {
        let address = try SessionRequest("http://internet.example.com/").url
        let reactor = try (clock?.reactor() ?? URLSessionManager.sharedReactor).get()
        let manager = URLSessionManager(queue: InternetProbe.queue, clock: clock) { [weak self] _ in
            switch self?.internet ?? .unknown {
            case .full: .status(204)
            case .portal: .redirect(to: "http://portal.example.com/")
            case .unknown, .none, .limited: .failure(.cannotConnectToHost)
            }
        }
        let probe = InternetProbe(
            InternetProbeConfiguration(address), provider: self, manager: manager, on: reactor)
        state.withLock { $0.probes.append(WeakProbe(probe: probe)) }
        return probe
    }

    /// Calls `observer` with the present state, then with each change, in order and never concurrently.
    public func observeReachability(
        _ observer: @escaping @Sendable (ReachabilityUpdate) -> Void
    ) -> ReachabilityObservation {
        observe(ScriptedObserver(waits: true, observer))
    }

    private func observe(_ new: ScriptedObserver) -> ReachabilityObservation {
        let number = state.withLock { state in
            state.nextNumber += 1
            state.observers[state.nextNumber] = new
            let update = ReachabilityUpdate(
                event: .initial, status: state.status, previous: nil, path: state.path)
            state.reports.append((new, update))
            return state.nextNumber
        }
        report()
        return ReachabilityObservation { [self] in
            _ = state.withLock { $0.observers.removeValue(forKey: number) }
            new.cancel()
        }
    }
}

// The sequences of `ReachabilityManager`.
extension ScriptedNetwork {
    /// The statuses: the present one first, then each different one; a slow reader gets the newest.
    public var statuses: StatusSequence { StatusSequence(updates: pathUpdates) }

    /// The updates of status and path: the present state first; a slow reader gets the newest.
    public var pathUpdates: AsyncStream<ReachabilityUpdate> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let observation = observe(ScriptedObserver(waits: false) { continuation.yield($0) })
            continuation.onTermination = { _ in observation.cancel() }
        }
    }
}

extension ScriptedNetwork.State {
    /// The next report; nil where there is none, or another thread is making one and makes this one too.
    fileprivate mutating func nextReport() -> (ScriptedObserver, ReachabilityUpdate)? {
        guard !isReporting, !reports.isEmpty else { return nil }
        isReporting = true
        return reports.removeFirst()
    }
}
