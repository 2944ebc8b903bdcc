// SPDX-License-Identifier: Apache-2.0

import EventLoop
import ReachabilityCore

/// What a monitor knows of the name it watches.
struct NameLookup: ~Copyable {
    let name: String
    var machine = NameResolutionStateMachine()
    /// Why there is no address; nil before the first answer and once there is one.
    var failure: NameFailure?
    /// Whether there was a way out when it was last looked for.
    var wasOnline = false
    /// The generation of the path to the present addresses; nil before the first evaluation of the way to them.
    var generation: UInt64?

    init(name: String) { self.name = name }
}

extension ReachabilityMonitor {
    func startLookup(_ name: String) {
        lookup = NameLookup(name: name)
        perform(lookup?.machine.started())
    }

    /// The deadline of the name may have come.
    func resumeLookup() { perform(lookup?.machine.deadlineReached(at: now)) }

    /// A name that could not be resolved is tried again as soon as there is a way out.
    func handleWayOut(_ exists: Bool) {
        let isNew = exists && lookup?.wasOnline == false
        lookup?.wasOnline = exists
        if isNew, lookup?.failure != nil { perform(lookup?.machine.networkChanged()) }
    }

    /// Another path may lead to another name server: the name is resolved again, once.
    ///
    /// The first path to other addresses is another one without another network: servers that rotate their answers would be
    /// asked for ever.
    func handleGeneration(_ generation: UInt64) {
        guard lookup != nil, evaluator != nil else { return }
        if let known = lookup?.generation, known != generation { perform(lookup?.machine.networkChanged()) }
        lookup?.generation = generation
    }

    private func perform(_ action: NameResolutionStateMachine.Action?) {
        guard action == .resolve, let name = lookup?.name else { return }
        // Kept until the answer is there; a monitor that has ended meanwhile ignores it.
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
