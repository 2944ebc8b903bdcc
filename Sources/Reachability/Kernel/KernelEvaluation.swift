// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// An evaluation with the answers of a kernel.
package struct KernelEvaluation: Sendable {
    /// All answers of the kernel that were used.
    package private(set) var snapshot: Snapshot
    package let path: ReachabilityPath
    /// How long the path holds at most.
    package let expires: Duration?

    /// Evaluates with the answers of `kernel`.
    package init(_ evaluator: PathEvaluator, _ kernel: any KernelQuerying) throws(ReachabilityError) {
        var snapshot = Snapshot()
        try kernel.answer(evaluator.openingQuestions.filter { kernel.cache[$0] == nil }, in: &snapshot)
        var evaluation = PathEvaluator.Evaluation.needs([])
        try kernel.asked { asking in
            evaluation = evaluator.evaluate(&snapshot, cache: kernel.cache, asking: asking)
        }
        guard case .path(let path, let expires) = evaluation else {
            throw ReachabilityError(
                .protocolViolation, context: "a question stayed without an answer",
                advice: "please report this with the output of `reach record`")
        }
        (self.snapshot, self.path, self.expires) = (snapshot, path, expires)
    }

    /// The reports on all links; asks for what the path did not need.
    package mutating func linkReports(
        _ evaluator: PathEvaluator, _ kernel: any KernelQuerying
    ) throws(ReachabilityError) -> [LinkReport] {
        var former = FormerReports()
        return try linkReports(evaluator, kernel, former: &former)
    }

    /// The same with the reports of the evaluation before, which are returned again where they hold.
    package mutating func linkReports(
        _ evaluator: PathEvaluator, _ kernel: any KernelQuerying, former: inout FormerReports
    ) throws(ReachabilityError) -> [LinkReport] {
        let reporter = LinkReporter(evaluator: evaluator, former: former)
        var finished = LinkReporter.Finished()
        var result: [LinkReport] = []
        _ = try kernel.complete(&snapshot) { snapshot throws(ReachabilityError) in
            var outcome = LinkReporter.Outcome.needs([])
            try kernel.asked { asking in
                outcome = reporter.report(
                    &snapshot, cache: kernel.cache, finished: &finished, asking: asking)
            }
            switch outcome {
            case .reports(let reports):
                result = reports
                return []
            case .needs(let questions): return questions
            }
        }
        former = former.succeeded(by: result, snapshot, kernel.cache, evaluator.costs)
        return result
    }
}

extension KernelQuerying {
    /// Runs an evaluation that asks this kernel on the spot; throws the first refusal to answer.
    fileprivate func asked(
        _ evaluate: (@escaping EvaluationContext.Asking) -> Void
    ) throws(ReachabilityError) {
        var failure: ReachabilityError?
        evaluate { questions in
            do throws(ReachabilityError) { return try self.answers(to: questions) } catch {
                failure = failure ?? error
                return nil
            }
        }
        if let failure { throw failure }
    }

    /// Adds answers of this kernel to the snapshot until a conclusion misses none; false where it never does.
    ///
    /// - Parameter conclude: called with more answers each time; returns its questions, none at the end.
    func complete(
        _ snapshot: inout Snapshot,
        _ conclude: (inout Snapshot) throws(ReachabilityError) -> [KernelQuestion]
    ) throws(ReachabilityError) -> Bool {
        // Reports on many links that are stacked six times need about ten rounds, a connection about five.
        for _ in 0..<40 {
            let missing = try conclude(&snapshot)
            if missing.isEmpty { return true }
            try answer(missing, in: &snapshot)
        }
        return false
    }

    func answer(
        _ questions: [KernelQuestion], in snapshot: inout Snapshot
    ) throws(ReachabilityError) {
        guard !questions.isEmpty else { return }
        let answers = try answers(to: questions)
        for (question, answer) in zip(questions, answers) { snapshot.add(question, answer) }
    }
}
