// SPDX-License-Identifier: Apache-2.0

public import ReachabilityCore

/// The state of the network at one instant: the path, and a report on each interface.
public struct NetworkReport: Sendable {
    /// The status.
    public let status: ReachabilityStatus
    /// The path.
    public let path: ReachabilityPath
    /// All interfaces but loopback, in the order of their indexes.
    public let links: [LinkReport]
    /// The steps of the evaluation: each question to the kernel, its answer, and the conclusion.
    public var steps: [EvaluationStep] { evaluator.explain(snapshot) }
    package let snapshot: Snapshot
    private let evaluator: PathEvaluator

    init(path: ReachabilityPath, links: [LinkReport], snapshot: Snapshot, evaluator: PathEvaluator) {
        status = path.instantStatus
        self.path = path
        self.links = links
        self.snapshot = snapshot
        self.evaluator = evaluator
    }
}
