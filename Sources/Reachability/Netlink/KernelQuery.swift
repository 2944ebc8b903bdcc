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
    package let memory = AnswerMemory()

    /// Asks about `namespace`, else about the network namespace of the thread that asks first.
    ///
    /// Nothing is opened before the first question.
    package init(namespace: NamespaceEntry? = nil) {
        channel = QueryChannel { () throws(NetlinkError) in try KernelTransport(.route, namespace: namespace)
        }
        wireless = WirelessQuery(open: { () throws(NetlinkError) in
            try KernelTransport(.generic, namespace: namespace)
        })
        probe = DeviceProbe(namespace: namespace)
    }

    /// Replies dropped: late, malformed, or not the kernel's.
    package var discarded: UInt64 { channel.discarded }

    /// The kernel's own words for its last refusal (NETLINK_EXT_ACK), where it gave any.
    package var refusal: String? { channel.refusal }

    package func answers(to questions: [KernelQuestion]) throws(ReachabilityError) -> [KernelAnswer] {
        // Mostly these are lookups of routes alone, after a change of one.
        if questions.allSatisfy({ $0.isSingle && memory[$0] == nil }) {
            let answers = try channel.answers(to: questions)
            for index in answers.indices { memory.remember(questions[index], answers[index]) }
            return answers
        }
        var answers: [KernelAnswer] = []
        answers.reserveCapacity(questions.count)
        // What one message answers is asked together; the answers come into the places kept here.
        var single: [KernelQuestion] = []
        var places: [Int] = []
        var dumps: [Int] = []
        for question in questions {
            if let answer = memory[question] {
                answers.append(answer)
                continue
            }
            if question.isSingle {
                single.append(question)
                places.append(answers.count)
            } else {
                dumps.append(answers.count)
            }
            answers.append(.failure(0))
        }
        if !single.isEmpty {
            let replies = try channel.answers(to: single)
            for index in replies.indices {
                answers[places[index]] = replies[index]
                memory.remember(single[index], replies[index])
            }
        }
        for place in dumps {
            // The same question may be there twice.
            let known = memory[questions[place]]
            answers[place] = if let known { known } else { try ask(questions[place]) }
        }
        return answers
    }

    package func noticed(_ event: NetworkEvent) {
        memory.notice(event)
        wireless.noticed(event)
    }

    package func forgetRoutes() { memory.forgetRoutes() }

    private func ask(_ question: KernelQuestion) throws(ReachabilityError) -> KernelAnswer {
        let answer: KernelAnswer
        switch question {
        case .links, .ports, .addresses, .rules:
            let (dump, isWhole) = try channel.dump(question)
            // The change that got in between brings an event, and with it the next evaluation.
            guard isWhole else { return dump }
            answer = dump
        case .wireless(let index): answer = wireless.state(of: index)
        case .device(let index, let name): answer = .device(probe.facts(of: index, name: name.text))
        case .route, .link, .linkNamed: answer = try channel.answers(to: [question])[0]
        }
        memory.remember(question, answer)
        return answer
    }
}
