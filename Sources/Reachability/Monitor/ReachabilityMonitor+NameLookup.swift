// SPDX-License-Identifier: Apache-2.0

import EventLoop
import ReachabilityCore

/// The resolution of a monitored name.
struct NameLookup: ~Copyable {
    let name: String
    var machine = NameResolutionStateMachine()
    /// The reason why there is no address; nil before the first answer and once there is one.
    var failure: NameFailure?
    /// Whether the last evaluation found a general path.
    var wasOnline = false
    /// The generation of the path to the present addresses; nil before its first evaluation.
    var generation: UInt64?
}

extension ReachabilityMonitor {
    func startLookup(_ name: String) {
        lookup = NameLookup(name: name)
        perform(lookup?.machine.started())
    }

    /// Processes a deadline of the name's resolution.
    func resumeLookup() { perform(lookup?.machine.deadlineReached(at: now)) }

    /// Resolves a failed name again as soon as there is a general path.
    func handleGeneralPath(exists: Bool) {
        let isNew = exists && lookup?.wasOnline == false
        lookup?.wasOnline = exists
        if isNew, lookup?.failure != nil { perform(lookup?.machine.networkChanged()) }
    }

    /// Resolves the name again after a change of path, which may lead to another name server.
    ///
    /// Not after the first path to new addresses: servers that rotate answers would cause endless lookups.
    func handleGeneration(_ generation: UInt64) {
        guard lookup != nil, evaluator != nil else { return }
        if let known = lookup?.generation, known != generation { perform(lookup?.machine.networkChanged()) }
        lookup?.generation = generation
    }

    private func perform(_ action: NameResolutionStateMachine.Action?) {
        guard action == .resolve, let name = lookup?.name else { return }
        // Retained until the answer arrives; a monitor that has ended ignores it.
        let monitor = LoopBound(self, to: reactor)
        environment.resolver.resolve(name, in: configuration.networkNamespace) { result in
            monitor.perform { $0.answered(name, result) }
        }
    }

    private func answered(_ name: String, _ result: Result<[ReachabilityDestination], NameFailure>) {
        guard lookup?.name == name, let outcome = lookup?.machine.answered(result, at: now) else { return }
        switch outcome {
        case .unchanged: handle([])  // arms the next deadline
        case .failed(let failure):
            lookup?.failure = failure
            environment.recorder?(.unresolved(failure, at: now))
            handle([.destinationsChanged])
        case .resolved(let destinations):
            lookup?.failure = nil
            lookup?.generation = nil
            follow(destinations)
            handle([.destinationsChanged])
        }
    }
}
