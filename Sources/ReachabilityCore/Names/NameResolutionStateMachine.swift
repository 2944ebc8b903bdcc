// SPDX-License-Identifier: Apache-2.0

/// The reason why a name has no address.
package enum NameFailure: Error, Sendable, Equatable {
    /// No name server answered or is reachable; a later attempt may work (EAI_AGAIN, getaddrinfo(3)).
    case temporary(String)
    /// The name servers report that the name does not exist or has no address.
    case noSuchName(String)

    /// The resolver's sentence.
    package var sentence: String {
        switch self {
        case .temporary(let sentence), .noSuchName(let sentence): sentence
        }
    }
}

/// Decides when to resolve a name, and what follows from the answer.
///
/// Resolves again after a failure, with pauses of 1, 2, 4 … 30 seconds; at once after a change of the
/// network; and from time to time, because addresses expire.
package struct NameResolutionStateMachine: ~Copyable, Sendable {
    /// The next step.
    package enum Action: Sendable, Equatable {
        case nothing
        /// Resolve the name now.
        case resolve
    }

    /// The result of an answer.
    package enum Outcome: Sendable, Equatable {
        /// The same addresses as before in any order, or a failure while earlier addresses are still valid.
        case unchanged
        /// The new addresses.
        case resolved([ReachabilityDestination])
        /// There is no address, and there never was one.
        case failed(NameFailure)
    }

    private enum State: Sendable {
        case idle
        /// A lookup is running; `again` if the network changed after its start.
        case asking(again: Bool)
        case waiting(until: MonotonicInstant)
    }

    private static let refresh: Duration = .seconds(300)

    private var state: State = .idle
    private var addresses: [ReachabilityDestination]?
    private var backoff = Backoff(first: .seconds(1), limit: .seconds(30))

    package init() {}

    /// When to call ``deadlineReached(at:)``; nil for never.
    package var nextDeadline: MonotonicInstant? {
        if case .waiting(let instant) = state { instant } else { nil }
    }

    /// Monitoring starts.
    package mutating func started() -> Action {
        state = .asking(again: false)
        return .resolve
    }

    /// The network changed: the name may have other addresses there.
    package mutating func networkChanged() -> Action {
        switch state {
        case .idle: return .nothing
        case .asking:
            // The running lookup may ask the old network's name server.
            state = .asking(again: true)
            return .nothing
        case .waiting:
            backoff.reset()
            state = .asking(again: false)
            return .resolve
        }
    }

    /// The instant ``nextDeadline`` has come.
    package mutating func deadlineReached(at now: MonotonicInstant) -> Action {
        guard case .waiting(let instant) = state, instant <= now else { return .nothing }
        state = .asking(again: false)
        return .resolve
    }

    /// The lookup has ended; if its answer may be outdated, ``nextDeadline`` is `now`.
    package mutating func answered(
        _ result: Result<[ReachabilityDestination], NameFailure>, at now: MonotonicInstant
    ) -> Outcome {
        guard case .asking(let again) = state else { return .unchanged }  // stopped meanwhile
        let outcome: Outcome
        switch result {
        case .success(let found):
            backoff.reset()
            state = .waiting(until: now + Self.refresh)
            // Servers rotate their answers to spread load: the first address stays the first.
            if let addresses, Self.isSame(addresses, found) {
                outcome = .unchanged
            } else {
                outcome = .resolved(found)
                addresses = found
            }
        case .failure(let failure):
            state = .waiting(until: now + backoff.nextDelay())
            outcome = addresses == nil ? .failed(failure) : .unchanged
        }
        if again { state = .waiting(until: now) }
        return outcome
    }

    private static func isSame(_ a: [ReachabilityDestination], _ b: [ReachabilityDestination]) -> Bool {
        a.allSatisfy(b.contains) && b.allSatisfy(a.contains)
    }
}
