// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// An evaluation with the answers of a kernel.
package struct KernelEvaluation: Sendable {
    /// All answers of the kernel that were used.
    package private(set) var snapshot = Snapshot()
    package let path: ReachabilityPath
    /// How long the path holds at most.
    package let expires: Duration?

    // A path through six stacked devices needs about ten rounds.
    private static let roundLimit = 40
    // Questions of an earlier evaluation that are asked along with the first ones, at most.
    private static let recalledLimit = 32

    /// Evaluates with the answers of `kernel`.
    ///
    /// - Parameter previous: The answers of an earlier evaluation. What it asked is mostly asked again after a
    ///   change of a route, so those questions go out with the first ones and save a round.
    package init(
        _ evaluator: PathEvaluator, _ kernel: any KernelQuerying, after previous: Snapshot = Snapshot()
    ) throws(ReachabilityError) {
        let opening = evaluator.openingQuestions.filter { kernel.cache[$0] == nil }
        var questions = opening
        if previous.entries.count <= Self.recalledLimit {
            for entry in previous.entries where entry.question.isSingle && kernel.cache[entry.question] == nil
            {
                if !opening.contains(entry.question) { questions.append(entry.question) }
            }
        }
        try kernel.answer(questions, in: &snapshot, keeping: opening.count)
        let result: (ReachabilityPath, Duration?)? = try kernel.askUntilComplete(
            &snapshot, rounds: Self.roundLimit
        ) { snapshot, cache in
            switch evaluator.evaluate(&snapshot, cache: cache) {
            case .path(let path, let expires): .complete((path, expires))
            case .needs(let questions): .needs(questions)
            }
        }
        guard let result else {
            throw ReachabilityError(
                .protocolViolation,
                context: "the evaluation came to no end after \(Self.roundLimit) questions",
                advice: "please report this with the output of `reach record`")
        }
        (path, expires) = result
    }

    /// The reports on all links; asks for what the path did not need.
    package mutating func linkReports(
        _ evaluator: PathEvaluator, _ kernel: any KernelQuerying
    ) throws(ReachabilityError) -> [LinkReport] {
        let reporter = LinkReporter(evaluator: evaluator)
        return try kernel.askUntilComplete(&snapshot, rounds: Self.roundLimit) { snapshot, cache in
            switch reporter.report(&snapshot, cache: cache) {
            case .reports(let reports): .complete(reports)
            case .needs(let questions): .needs(questions)
            }
        } ?? []
    }
}

/// The result of one round of ``KernelQuerying/askUntilComplete(_:rounds:_:)``.
enum EvaluationRound<Value> {
    case complete(Value)
    /// These questions have to be answered first.
    case needs([KernelQuestion])
}

extension KernelQuerying {
    /// Repeats `step` with more answers until it is complete; nil if it is not after so many rounds.
    func askUntilComplete<Value>(
        _ snapshot: inout Snapshot, rounds: Int,
        _ step: (inout Snapshot, KernelCache) -> EvaluationRound<Value>
    ) throws(ReachabilityError) -> Value? {
        for _ in 0..<rounds {
            switch step(&snapshot, cache) {
            case .complete(let value): return value
            case .needs(let questions): try answer(questions, in: &snapshot)
            }
        }
        return nil
    }

    /// Asks, and adds the first `count` answers to the snapshot; the others are only cached.
    fileprivate func answer(
        _ questions: [KernelQuestion], in snapshot: inout Snapshot, keeping count: Int = .max
    ) throws(ReachabilityError) {
        guard !questions.isEmpty else { return }
        let answers = try answers(to: questions)
        for (question, answer) in zip(questions, answers).prefix(count) { snapshot.add(question, answer) }
    }
}
