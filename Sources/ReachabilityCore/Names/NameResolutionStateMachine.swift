// SPDX-License-Identifier: Apache-2.0

/// Why a name has no address.
package enum NameFailure: Error, Sendable, Equatable {
    /// No name server answered, or none can be reached: it may work later (EAI_AGAIN, getaddrinfo(3)).
    case temporary(String)
    /// The name servers say that there is no such name, or that it has no address.
    case noSuchName(String)

    /// The sentence underneath.
    package var sentence: String {
        switch self {
        case .temporary(let sentence), .noSuchName(let sentence): sentence
        }
    }
}

/// Decides when to ask for the addresses of a name, and what to do with the answer.
///
/// A name is asked again after a failure, with pauses of 1, 2, 4 … 30 seconds; at once when the network has changed;
/// and now and then, because addresses expire.
package struct NameResolutionStateMachine: ~Copyable, Sendable {
    /// What to do next.
    package enum Action: Sendable, Equatable {
        case nothing
        /// Ask for the addresses now.
        case resolve
    }

    /// What an answer means.
    package enum Outcome: Sendable, Equatable {
        /// The same addresses as before, in whatever order, or a failure while earlier addresses are still good.
        case unchanged
        /// These are the addresses now.
        case resolved([ReachabilityDestination])
        /// There is no address, and there never was one.
        case failed(NameFailure)
    }

    private enum State: Sendable {
        case idle
        /// A question is under way; `again` where the network changed since it was put.
        case asking(again: Bool)
        case waiting(until: MonotonicInstant)
    }

    private static let refresh: Duration = .seconds(300)

    private var state: State = .idle
    private var addresses: [ReachabilityDestination]?
    private var backoff = Backoff(first: .seconds(1), limit: .seconds(30))

    package init() {}

    /// When ``deadlineReached(at:)`` wants to be called.
    package var nextDeadline: MonotonicInstant? {
        if case .waiting(let instant) = state { instant } else { nil }
    }

    /// Monitoring starts.
    package mutating func started() -> Action {
        state = .asking(again: false)
        return .resolve
    }

    /// Another path is in use, or a path is there again: names may mean something else there.
    package mutating func networkChanged() -> Action {
        switch state {
        case .idle: return .nothing
        case .asking:
            // The answer under way may come from the old network's name server.
            state = .asking(again: true)
            return .nothing
        case .waiting:
            backoff.reset()
            state = .asking(again: false)
            return .resolve
        }
    }

    /// A deadline has come.
    package mutating func deadlineReached(at now: MonotonicInstant) -> Action {
        guard case .waiting(let instant) = state, instant <= now else { return .nothing }
        state = .asking(again: false)
        return .resolve
    }

    /// The answer has come.
    ///
    /// Where it may be outdated already, ``nextDeadline`` is now.
    package mutating func answered(
        _ result: Result<[ReachabilityDestination], NameFailure>, at now: MonotonicInstant
    ) -> Outcome {
        guard case .asking(let again) = state else { return .unchanged }  // stopped meanwhile
        let outcome: Outcome
        switch result {
        case .success(let found):
            backoff.reset()
            state = .waiting(until: now + Self.refresh)
            // Servers rotate their answers to spread the load: the first address seen stays the first.
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
