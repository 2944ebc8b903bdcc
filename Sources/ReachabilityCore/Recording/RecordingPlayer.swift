// SPDX-License-Identifier: Apache-2.0

/// Lets a fresh machine and a fresh evaluation live through a recording, on its instants.
///
/// What comes out is what the monitor said then, if program and recording are of one mind; where they are not,
/// the difference is a change of behaviour.
package struct RecordingPlayer: ~Copyable, Sendable {
    /// One thing the monitor said, and when.
    package struct Moment: Sendable, Hashable {
        /// What it said.
        package let update: ReachabilityUpdate
        /// What the wall clock showed.
        package let wall: WallTime
    }

    private let header: RecordingHeader
    private var machine: ReachabilityStateMachine
    private var evaluator: PathEvaluator
    /// What the wall clock shows at an instant, as a distance.
    private var wallOffset: Int64
    /// The answers of the last evaluation, for `--explain`.
    package private(set) var snapshot = Snapshot()

    package init(_ header: RecordingHeader) {
        self.header = header
        machine = ReachabilityStateMachine(timing: header.configuration.timing)
        // A name has no destination until the recording tells its addresses.
        let target: ReachabilityTarget =
            header.host.map { .host(ReachabilityDestination($0).map { [$0] } ?? []) }
            ?? .general(sentinels: header.configuration.sentinels)
        evaluator = PathEvaluator(target: target, configuration: header.configuration)
        wallOffset = header.wall.nanoseconds &- header.start.nanoseconds
        machine.started()
    }

    /// Lives through one item; nil where nothing was to be told.
    package mutating func play(_ item: RecordedItem) -> Moment? {
        let now = item.instant
        let verdict: ReachabilityStateMachine.Verdict
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
            evaluator.target = .host(destinations)
            return nil
        case .clockSet(let wall, _):
            wallOffset = wall.nanoseconds &- now.nanoseconds
            return nil
        case .stopped:
            machine.stopped()
            return nil
        case .unanswered(let error, _): verdict = machine.evaluationFailed(error, at: now)
        case .unresolved(let failure, _):
            verdict = machine.evaluated(unresolved(failure), at: now)
        case .evaluated(let snapshot, _, let took):
            // A snapshot that lacks an answer was not made by this evaluator: nothing can be concluded from it.
            guard case .path(let path, let expires) = evaluator.evaluate(snapshot) else { return nil }
            self.snapshot = snapshot
            verdict = machine.evaluated(path, expires: expires, took: took, at: now)
            if header.configuration.reportsLinks, case .publish = verdict,
                case .reports(let reports) = LinkSurvey(evaluator: evaluator).survey(snapshot)
            {
                links = reports
            }
        }
        guard case .publish(let update) = verdict else { return nil }
        let told = ReachabilityUpdate(
            event: update.event, status: update.status, previous: update.previous, path: update.path, links: links)
        return Moment(update: told, wall: WallTime(nanoseconds: now.nanoseconds &+ wallOffset))
    }

    private func unresolved(_ failure: NameFailure) -> ReachabilityPath {
        var path = ReachabilityPath()
        path.instantStatus = .unreachable
        path.reason = ReachabilityReason(.unresolved, sentence: failure.sentence)
        return path
    }

    /// The steps of the last evaluation, for people.
    package var steps: [EvaluationStep] { evaluator.explain(snapshot) }
}
