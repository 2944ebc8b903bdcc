// SPDX-License-Identifier: Apache-2.0

/// One step of an evaluation: the question to the kernel, its answer, and the conclusion.
public struct EvaluationStep: Sendable, Equatable {
    /// The question, in the words of ip-route(8): "route to 12.0.0.1".
    public let question: String
    /// The kernel's answer: "via 192.0.2.1 dev eth0 src 192.0.2.2".
    public let answer: String
    /// The conclusion.
    public let conclusion: String
    /// The reason code if this step decides; nil for an intermediate step.
    public let code: ReachabilityReason.Code?

    package init(
        _ question: String, _ answer: String, _ conclusion: String, code: ReachabilityReason.Code? = nil
    ) {
        self.question = question
        self.answer = answer
        self.conclusion = conclusion
        self.code = code
    }
}
