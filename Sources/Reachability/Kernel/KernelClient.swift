// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Asks the kernel, and caches answers until an event may have changed them.
///
/// Many lookups go in one datagram, so a batch costs one system call, and one more for each reply.
package final class KernelClient: KernelQuerying {
    private let channel: NetlinkRequestChannel
    private let wireless: WirelessQuery
    private let probe: DeviceProbe
    private let leases: LeaseCache
    package let cache = KernelCache()

    /// A client for `namespace`, else for that of the thread that asks first; opens nothing before that.
    package init(namespace: NamespaceEntry? = nil, leases: LeaseFiles = LeaseFiles()) {
        self.leases = LeaseCache(leases)
        channel = NetlinkRequestChannel { () throws(NetlinkError) in
            try KernelTransport(.route, namespace: namespace)
        }
        wireless = WirelessQuery(open: { () throws(NetlinkError) in
            try KernelTransport(.generic, namespace: namespace)
        })
        probe = DeviceProbe(namespace: namespace)
    }

    /// Replies dropped: late, malformed, or not the kernel's.
    package var discarded: UInt64 { channel.discarded }

    /// The kernel's message for its last refusal (NETLINK_EXT_ACK), if any.
    package var refusal: String? { channel.refusal }

    package func answers(to questions: [KernelQuestion]) throws(ReachabilityError) -> [KernelAnswer] {
        // The common case after a change of a route: only lookups of routes.
        if questions.allSatisfy({ $0.isSingle && cache[$0] == nil }) {
            let answers = try channel.answers(to: questions)
            for index in answers.indices { cache.store(questions[index], answers[index]) }
            return answers
        }
        var answers = questions.map { cache[$0] }
        // Questions with single answers are sent together.
        let single = questions.indices.filter { answers[$0] == nil && questions[$0].isSingle }
        if !single.isEmpty {
            let replies = try channel.answers(to: single.map { questions[$0] })
            for (index, reply) in zip(single, replies) {
                answers[index] = reply
                cache.store(questions[index], reply)
            }
        }
        for index in questions.indices where answers[index] == nil {
            // An earlier question of this call may be the same.
            let known = cache[questions[index]]
            answers[index] = if let known { known } else { try ask(questions[index]) }
        }
        return answers.compactMap { $0 }
    }

    package func handle(_ events: [NetworkEvent]) {
        cache.apply(events)
        for event in events {
            wireless.handle(event)
            leases.handle(event)
        }
    }

    package func leasesHaveChanged() -> Bool { leases.haveChanged() }

    package func forgetRoutes() { cache.forgetRoutes() }

    private func ask(_ question: KernelQuestion) throws(ReachabilityError) -> KernelAnswer {
        let answer: KernelAnswer
        switch question {
        case .links, .ports, .addresses, .rules:
            let (dump, isWhole) = try channel.dump(question)
            // The change that interrupted the dump brings an event, and with it the next evaluation.
            guard isWhole else { return dump }
            answer = dump
        case .wireless(let index): answer = wireless.state(of: index)
        case .device(let index, let name): answer = .device(probe.facts(of: index, name: name.text))
        case .lease(let index, let name):
            answer = .meteredLease(leases.meteredAddress(of: index, name: name.text))
        case .route, .link, .linkNamed: answer = try channel.answers(to: [question])[0]
        }
        cache.store(question, answer)
        return answer
    }
}
