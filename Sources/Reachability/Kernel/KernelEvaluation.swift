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

    /// Evaluates with the answers of `kernel`.
    package init(_ evaluator: PathEvaluator, _ kernel: any KernelQuerying) throws(ReachabilityError) {
        try kernel.answer(evaluator.openingQuestions.filter { kernel.cache[$0] == nil }, in: &snapshot)
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

    fileprivate func answer(
        _ questions: [KernelQuestion], in snapshot: inout Snapshot
    ) throws(ReachabilityError) {
        guard !questions.isEmpty else { return }
        let answers = try answers(to: questions)
        for (question, answer) in zip(questions, answers) { snapshot.add(question, answer) }
    }
}
