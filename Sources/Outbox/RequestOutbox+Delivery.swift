// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import Synchronization

// Starting and stopping the delivery, and what it follows.
extension RequestOutbox {
    /// Starts the delivery, with a manager's connections, policy and request queue.
    ///
    /// Requests wait in the manager's queue while there is no suitable network; when it is back, requests
    /// that failed because of it are tried at once.
    ///
    /// - Parameter probe: its state is followed: requests without TLS wait while it reports a sign-in page or
    ///   no path, or has no result yet, unless another uplink has internet, which takes those that want no
    ///   kind of network and whose server is not in a private network. Until the delivery ends it is the
    ///   ``SessionManager/RequestQueue/internetProbe`` of the manager's queue, so that requests leave a dead
    ///   line, and wait where no uplink has internet. It has to be started.
    /// - Throws: ``OutboxError/Code/deliveredElsewhere`` if another process delivers.
    public func startDelivery(with manager: URLSessionManager, probe: InternetProbe? = nil) async throws {
        let queue = manager.queue
        let former = queue.internetProbe
        // Before the first request is sent.
        if let probe {
            try await follow(findings: probe.findings)
            queue.internetProbe = probe
        }
        let provider: (any ReachabilityProvider)? =
            switch queue.follows {
            case .shared: ReachabilityManager.shared
            case .provider(let provider): provider
            case .host, .requiring, .none: nil
            }
        if case .shared = queue.follows, queue.settings.startsMonitoring {
            ReachabilityManager.shared.startMonitoring()
        }
        let path = provider.map { $0.currentReachability().path }.flatMap { CarryingPath($0) }
        do {
            try await on { (engine) throws(OutboxError) in
                engine.follow(path)
                try engine.start(manager)
            }
        } catch {
            if probe != nil { queue.internetProbe = former }
            throw error
        }
        if let probe { follow(probe, queue) }
        let engine = engine
        let last = Mutex<UInt64?>(nil)
        let observation = provider?.observeReachability { update in
            guard update.status != .unknown, update.path.isOnline else { return last.withLock { $0 = nil } }
            if let path = CarryingPath(update.path) { engine.perform { $0.follow(path) } }
            let generation = UInt64(update.path.generation)
            let isNew = last.withLock { last in
                defer { last = generation }
                return last != generation
            }
            if isNew { engine.perform { $0.networkIsBack() } }
        }
        replace(network, with: observation)
    }

    /// Has requests without TLS, and a queue, follow a probe until the delivery ends.
    private func follow(_ probe: InternetProbe, _ queue: RequestQueue) {
        replace(internet, with: nil)
        // The end of an earlier one has removed it.
        if queue.internetProbe !== probe { queue.internetProbe = probe }
        let engine = engine
        let findings = probe.observeFindings { findings in engine.perform { $0.follow(findings) } }
        let observation = ReachabilityObservation {
            findings.cancel()
            if queue.internetProbe === probe { queue.internetProbe = nil }
        }
        replace(internet, with: observation)
    }

    private func replace(
        _ kept: borrowing Mutex<ReachabilityObservation?>, with observation: ReachabilityObservation?
    ) {
        let former = kept.withLock { kept in
            defer { kept = observation }
            return kept
        }
        former?.cancel()
    }

    /// Applies the state of a probe; nil if there is no probe any more.
    package func follow(_ internet: InternetState?) async throws {
        try await follow(findings: internet.map { InternetFindings($0) })
    }

    /// The same with what was found behind each uplink.
    package func follow(findings: InternetFindings?) async throws {
        try await on { (engine) throws(OutboxError) in engine.follow(findings) }
    }

    /// Ends the delivery; returns when nothing is in flight any more and another process may take over.
    public func stopDelivery() async {
        replace(network, with: nil)
        replace(internet, with: nil)
        await withCheckedContinuation { continuation in
            engine.perform { engine in
                engine.stopWaiters.append(continuation)
                engine.stop()
                engine.endStopping()
            }
        }
    }
}
