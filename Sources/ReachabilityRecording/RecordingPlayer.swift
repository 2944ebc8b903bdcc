// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Lets a fresh machine and a fresh evaluation live through a recording, on its instants.
///
/// What comes out is what the monitor said then, if program and recording are of one mind; where they are not,
/// the difference is a change of behaviour.
package struct RecordingPlayer: ~Copyable, Sendable {
    /// One thing the monitor said, and when.
    package struct Moment: Sendable, Equatable {
        /// What it said.
        package let update: ReachabilityUpdate
        /// What the wall clock showed.
        package let wall: WallTime
    }

    private let header: RecordingHeader
    private var machine: ReachabilityStateMachine
    /// Nil while the watched name has no address.
    private var evaluator: PathEvaluator?
    private let general: PathEvaluator
    private var failure: NameFailure?
    /// What the wall clock shows at an instant, as a distance.
    private var wallOffset: Int64
    private var snapshot = Snapshot()
    /// Evaluations in which an answer was missing: the recording was made by a program that asks other questions.
    package private(set) var incomplete = 0

    package init(_ header: RecordingHeader) {
        let configuration = header.configuration
        self.header = header
        machine = ReachabilityStateMachine(timing: configuration.timing)
        general = PathEvaluator(
            target: .general(sentinels: configuration.sentinels), configuration: configuration)
        if let host = header.host {
            // A name has no destination until the recording tells its addresses.
            evaluator = ReachabilityDestination(host).map {
                PathEvaluator(target: .host([$0]), configuration: configuration)
            }
        } else {
            evaluator = general
        }
        wallOffset = header.wall.nanoseconds &- header.start.nanoseconds
        machine.started()
    }

    /// Lives through one item; nil where nothing was to be told.
    package mutating func play(_ item: RecordedItem) -> Moment? {
        let now = item.instant
        let action: ReachabilityStateMachine.EvaluationAction
        var links: [LinkReport] = []
        switch item {
        case .events(let events, _):
            // The recording tells when the kernel was asked: what the machine asks for is of no interest here.
            for event in events { _ = machine.observed(event, at: now) }
            return nil
        case .elapsed:
            _ = machine.deadlineReached(at: now)
            return nil
        case .resolved(let destinations, _):
            failure = nil
            evaluator = PathEvaluator(target: .host(destinations), configuration: header.configuration)
            return nil
        case .unresolved(let failure, _):
            self.failure = failure
            return nil
        case .clockSet(let wall, _):
            wallOffset = wall.nanoseconds &- now.nanoseconds
            return nil
        case .stopped:
            machine.stopped()
            return nil
        case .unanswered(let error, _): action = machine.evaluationFailed(error, at: now)
        case .evaluated(let snapshot, _, let took):
            let evaluator = evaluator ?? general
            // A snapshot that lacks an answer was not made by this evaluator: nothing can be concluded from it.
            let snapshot = Self.completed(snapshot, for: evaluator)
            guard case .path(let found, let expires) = evaluator.evaluate(snapshot) else {
                incomplete += 1
                return nil
            }
            self.snapshot = snapshot
            guard let path = path(found) else {
                machine.evaluationPostponed(took: took.inNanoseconds, at: now)
                return nil
            }
            action = machine.evaluated(path, expires: expires, took: took.inNanoseconds, at: now)
            if header.configuration.reportsLinks, case .publish = action,
                case .reports(let reports) = LinkReporter(evaluator: evaluator).report(snapshot)
            {
                links = reports
            }
        }
        guard case .publish(let update) = action else { return nil }
        let recorded = ReachabilityUpdate(
            event: update.event, status: update.status, previous: update.previous, path: update.path,
            links: links)
        return Moment(update: recorded, wall: WallTime(nanoseconds: now.nanoseconds &+ wallOffset))
    }

    /// A snapshot of an older program, with what that one did not ask.
    ///
    /// Without rules its lookups are those of that time, without addresses there are none to send from, and all connections go the
    /// way that was recorded.
    private static func completed(_ snapshot: Snapshot, for evaluator: PathEvaluator) -> Snapshot {
        var completed = snapshot
        if snapshot[.rules] == nil { completed.add(.rules, .rules(PolicyRules())) }
        // An answer may lead to one more question, but not to many.
        for _ in 0..<8 {
            guard case .needs(let questions) = evaluator.evaluate(completed) else { break }
            for question in questions {
                guard let answer = unasked(question, in: completed) else { return completed }
                completed.add(question, answer)
            }
        }
        return completed
    }

    /// The answer that comes to what an older program concluded without the question; nil where each program asked it.
    private static func unasked(_ question: KernelQuestion, in snapshot: Snapshot) -> KernelAnswer? {
        switch question {
        // Where IPv6 has no route: there were none to send from.
        case .addresses: return .addresses([])
        case .route(var lookup) where lookup.port != 0:
            lookup.port = 0
            lookup.sourcePort = 0
            if let answer = snapshot[.route(lookup)] { return answer }
            lookup.source = nil
            return snapshot[.route(lookup)]
        // What carries a tunnel was looked for on live links alone, without marks.
        case .route(let lookup) where lookup.interface != 0 && snapshot[.links] != nil:
            return .failure(KernelErrno.networkUnreachable)
        // Only the leg that was taken was looked at, and a port was a way out whatever it is a port of.
        case .link(let index)
        where isLeg(index, in: snapshot) || snapshot.links.contains { $0.master == index },
            .wireless(let index) where snapshot.links.contains { $0.index == index && $0.master != nil }:
            return .failure(KernelErrno.noDevice)
        default: return nil
        }
    }

    private static func isLeg(_ index: Int32, in snapshot: Snapshot) -> Bool {
        snapshot.entries.contains { entry in
            guard case .route(let route) = entry.answer else { return false }
            return route.legs.contains { $0.interface == index }
        }
    }

    /// The path to the watched host, where its name has no address yet; nil while nothing can be said.
    private func path(_ found: ReachabilityPath) -> ReachabilityPath? {
        guard evaluator == nil, let name = header.host else { return found }
        return failure.flatMap { .unresolved(name, $0, general: found) }
    }

    /// The steps of the last evaluation, for people.
    package func explained() -> [EvaluationStep] { (evaluator ?? general).explain(snapshot) }
}

extension Snapshot {
    /// All links that answers tell of.
    fileprivate var links: [LinkState] {
        entries.flatMap { entry -> [LinkState] in
            switch entry.answer {
            case .link(let link): [link]
            case .links(let links): links
            default: []
            }
        }
    }
}
