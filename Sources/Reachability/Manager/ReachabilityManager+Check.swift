// SPDX-License-Identifier: Apache-2.0

public import ReachabilityCore

extension ReachabilityManager {
    /// Evaluates once, without monitoring; returns within a few milliseconds.
    ///
    /// It blocks: a host *name* is resolved, which can take as long as the name servers do.
    ///
    /// - Parameters:
    ///   - host: A name or literal address; nil for the general path.
    ///   - configuration: The target and its settings.
    /// - Throws: `netlinkRefused` if the kernel cannot be asked, `timedOut` if it does not answer.
    public static func check(
        host: String? = nil, configuration: ReachabilityConfiguration = .init()
    ) throws(ReachabilityError) -> NetworkReport {
        try check(host: host, configuration: configuration, in: .kernel)
    }

    /// The same with another kernel.
    package static func check(
        host: String?, configuration: ReachabilityConfiguration, in environment: MonitorEnvironment
    ) throws(ReachabilityError) -> NetworkReport {
        let kernel = try environment.makeKernel(configuration)
        var general = PathEvaluator(
            target: .general(sentinels: configuration.sentinels), configuration: configuration)
        general.costs.hints = environment.hints?.all ?? []
        switch host.map({ MonitorTarget($0) }) ?? .general {
        case .general: return try report(general, kernel) { $0 }
        case .addresses(let destinations):
            return try report(general.evaluator(for: destinations), kernel) { $0 }
        case .name(let name):
            switch SystemResolver.addresses(of: name, in: configuration.networkNamespace) {
            case .success(let destinations):
                return try report(general.evaluator(for: destinations), kernel) { $0 }
            case .failure(let failure):
                return try report(general, kernel) { path in
                    .unresolved(name, failure, general: path)
                        ?? .unknown(ReachabilityReason(.unresolved, sentence: failure.sentence))
                }
            }
        }
    }

    private static func report(
        _ evaluator: PathEvaluator, _ kernel: any KernelQuerying,
        _ adjust: (ReachabilityPath) -> ReachabilityPath
    ) throws(ReachabilityError) -> NetworkReport {
        var evaluation = try KernelEvaluation(evaluator, kernel)
        let links = try evaluation.linkReports(evaluator, kernel)
        var path = adjust(evaluation.path)
        path.generation = 1
        return NetworkReport(path: path, links: links, snapshot: evaluation.snapshot, evaluator: evaluator)
    }
}

extension PathEvaluator {
    fileprivate func evaluator(for destinations: [ReachabilityDestination]) -> PathEvaluator {
        var evaluator = PathEvaluator(target: .host(destinations), configuration: configuration)
        evaluator.costs = costs
        return evaluator
    }
}
