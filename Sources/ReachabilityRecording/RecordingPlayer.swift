// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Replays a recording with a new state machine and evaluator at the recorded instants.
///
/// A difference to the output of the recorded monitor is a change of behaviour.
package struct RecordingPlayer: ~Copyable, Sendable {
    /// An update with its time.
    package struct Moment: Sendable, Equatable {
        package let update: ReachabilityUpdate
        /// The wall clock at that instant.
        package let wall: WallTime
    }

    private let header: RecordingHeader
    private var machine: ReachabilityStateMachine
    /// Nil while the monitored name has no address.
    private var evaluator: PathEvaluator?
    private let general: PathEvaluator
    private var failure: NameFailure?
    /// The offset from the monotonic clock to the wall clock.
    private var wallOffset: Int64
    private var snapshot = Snapshot()
    /// Evaluations with missing answers: the recording program asked other questions.
    package private(set) var incomplete = 0

    package init(_ header: RecordingHeader) {
        let configuration = header.configuration
        self.header = header
        machine = ReachabilityStateMachine(timing: configuration.timing)
        general = PathEvaluator(
            target: .general(sentinels: configuration.sentinels), configuration: configuration)
        if let host = header.host {
            // A name has no destination until the recording has its addresses.
            evaluator = ReachabilityDestination(host).map {
                PathEvaluator(target: .host([$0]), configuration: configuration)
            }
        } else {
            evaluator = general
        }
        wallOffset = header.wall.nanoseconds &- header.start.nanoseconds
        machine.started()
    }

    /// Replays one item; nil if it leads to no update.
    package mutating func play(_ item: RecordedItem) -> Moment? {
        let now = item.instant
        var action = ReachabilityStateMachine.EvaluationAction.ignore
        var links: [LinkReport] = []
        switch item {
        case .events(let events, _):
            // The recording says when the kernel was asked; the machine's action is ignored.
            for event in events { _ = machine.observed(event, at: now) }
        case .elapsed: _ = machine.deadlineReached(at: now)
        case .resolved(let destinations, _):
            failure = nil
            evaluator = PathEvaluator(target: .host(destinations), configuration: header.configuration)
        case .unresolved(let failure, _): self.failure = failure
        case .clockSet(let wall, _): wallOffset = wall.nanoseconds &- now.nanoseconds
        case .stopped: machine.stopped()
        case .unanswered(let error, _): action = machine.evaluationFailed(error, at: now)
        case .evaluated(let snapshot, _, let took):
            let evaluator = evaluator ?? general
            // A snapshot without all answers comes from another evaluator and allows no conclusion.
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

    /// A snapshot of an older program, completed with substitutes for answers that keep its conclusions.
    private static func completed(_ snapshot: Snapshot, for evaluator: PathEvaluator) -> Snapshot {
        var completed = snapshot
        if snapshot[.rules] == nil { completed.add(.rules, .rules(PolicyRules())) }
        // An answer can lead to another question, but not to many.
        for _ in 0..<8 {
            guard case .needs(let questions) = evaluator.evaluate(completed) else { break }
            for question in questions {
                guard let answer = unasked(question, in: completed) else { return completed }
                completed.add(question, answer)
            }
        }
        return completed
    }

    /// The substitute answer to a question that an older program did not ask; nil if every program asks it.
    private static func unasked(_ question: KernelQuestion, in snapshot: Snapshot) -> KernelAnswer? {
        switch question {
        // IPv6 had no route, so there was no source address.
        case .addresses: return .addresses([])
        case .lease: return .meteredLease(nil)
        case .route(var lookup) where lookup.port != 0:
            lookup.port = 0
            lookup.sourcePort = 0
            if let answer = snapshot[.route(lookup)] { return answer }
            lookup.source = nil
            return snapshot[.route(lookup)]
        // Older programs searched the underlay of a tunnel on live links only, without marks.
        case .route(let lookup) where lookup.interface != 0 && snapshot[.links] != nil:
            return .failure(KernelErrno.networkUnreachable)
        // Older programs checked only the leg in use, and accepted ports of any master.
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

    /// The path to the monitored host while its name has no address; nil while nothing is known.
    private func path(_ found: ReachabilityPath) -> ReachabilityPath? {
        guard evaluator == nil, let name = header.host else { return found }
        return failure.flatMap { .unresolved(name, $0, general: found) }
    }

    /// The steps of the last evaluation, for people.
    package func explained() -> [EvaluationStep] { (evaluator ?? general).explain(snapshot) }
}

extension Snapshot {
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
