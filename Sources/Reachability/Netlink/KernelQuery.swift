// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Asks the kernel, and remembers what cannot have changed since.
///
/// Many lookups go in one datagram: the kernel answers all of them before the send returns, so a batch costs one
/// system call and one more for each reply.
package final class KernelQuery: KernelQuerying {
    private let channel: QueryChannel
    private let wireless: WirelessQuery
    private let probe: DeviceProbe
    private var memory = AnswerMemory()

    /// Asks about `namespace`, else about the network namespace of the thread that asks first.
    ///
    /// Nothing is opened before the first question.
    package init(namespace: NamespaceEntry? = nil) {
        channel = QueryChannel { () throws(NetlinkError) in try KernelTransport(.route, namespace: namespace)
        }
        wireless = WirelessQuery { () throws(NetlinkError) in
            try KernelTransport(.generic, namespace: namespace)
        }
        probe = DeviceProbe(namespace: namespace)
    }

    /// Replies dropped: late, malformed, or not the kernel's.
    package var discarded: UInt64 { channel.discarded }

    /// The kernel's own words for its last refusal (NETLINK_EXT_ACK), where it gave any.
    package var refusal: String? { channel.refusal }

    package func answers(to questions: [KernelQuestion]) throws(ReachabilityError) -> [KernelAnswer] {
        var answers: [KernelAnswer?] = questions.map { memory[$0] }
        let open = questions.indices.filter { answers[$0] == nil }
        let single = open.filter { questions[$0].isSingle }
        if !single.isEmpty {
            let replies = try channel.answers(to: single.map { questions[$0] })
            for (index, reply) in zip(single, replies) {
                answers[index] = reply
                memory.remember(questions[index], reply)
            }
        }
        for index in open where !questions[index].isSingle {
            // The same question may be there twice.
            let known = memory[questions[index]]
            answers[index] = if let known { known } else { try ask(questions[index]) }
        }
        return answers.map { $0 ?? .failure(0) }
    }

    package func noticed(_ event: NetworkEvent) { memory.notice(event) }

    package func forgetRoutes() { memory.forgetRoutes() }

    private func ask(_ question: KernelQuestion) throws(ReachabilityError) -> KernelAnswer {
        let answer: KernelAnswer
        switch question {
        case .links, .ports, .addresses:
            let (dump, isWhole) = try channel.dump(question)
            // The change that got in between brings an event, and with it the next evaluation.
            guard isWhole else { return dump }
            answer = dump
        case .wireless(let index): answer = wireless.state(of: index)
        case .device(let index, let name): answer = .device(probe.facts(of: index, name: name))
        case .route, .link, .linkNamed: answer = try channel.answers(to: [question])[0]
        }
        memory.remember(question, answer)
        return answer
    }
}
