// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Asks a kernel until an evaluation has what it needs.
package struct KernelEvaluation: Sendable {
    /// What the kernel said to everything that was asked.
    package private(set) var snapshot = Snapshot()
    /// The path that follows from it.
    package private(set) var path = ReachabilityPath()
    /// How long it holds at most.
    package private(set) var expires: Duration?

    // A path through six stacked devices needs about ten rounds.
    private static let roundLimit = 40

    /// Evaluates with what `kernel` answers.
    package init(_ evaluator: PathEvaluator, _ kernel: any KernelQuerying) throws(ReachabilityError) {
        // What is remembered, the evaluation recalls by itself.
        try ask(evaluator.openingQuestions.filter { kernel.memory[$0] == nil }, kernel)
        for _ in 0..<Self.roundLimit {
            switch evaluator.evaluate(&snapshot, recalling: kernel.memory) {
            case .path(let path, let expires):
                self.path = path
                self.expires = expires
                return
            case .needs(let questions): try ask(questions, kernel)
            }
        }
        throw ReachabilityError(
            .protocolViolation, context: "the evaluation came to no end after \(Self.roundLimit) questions",
            advice: "please report this with the output of `reach record`")
    }

    /// The reports on all links; asks what the path did not need.
    package mutating func survey(
        _ evaluator: PathEvaluator, _ kernel: any KernelQuerying
    ) throws(ReachabilityError) -> [LinkReport] {
        let survey = LinkSurvey(evaluator: evaluator)
        for _ in 0..<Self.roundLimit {
            switch survey.survey(&snapshot, recalling: kernel.memory) {
            case .reports(let reports): return reports
            case .needs(let questions): try ask(questions, kernel)
            }
        }
        return []
    }

    private mutating func ask(_ questions: [KernelQuestion], _ kernel: any KernelQuerying)
        throws(ReachabilityError)
    {
        guard !questions.isEmpty else { return }
        let answers = try kernel.answers(to: questions)
        for (question, answer) in zip(questions, answers) { snapshot.add(question, answer) }
    }
}
