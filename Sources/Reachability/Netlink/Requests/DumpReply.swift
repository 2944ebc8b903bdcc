// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// The messages of one dump until its end.
package struct DumpReply {
    private let question: KernelQuestion
    private let sequence: UInt32
    private var links: [LinkState] = []
    private var addresses: [InterfaceAddress] = []
    private var rules = PolicyRules()
    private var failure: Int32 = 0
    package private(set) var isComplete = false
    /// Whether a change interrupted the dump (NLM_F_DUMP_INTR): entries may be missing or duplicated.
    package private(set) var isInterrupted = false
    /// Discarded messages: of an earlier dump, or malformed.
    package private(set) var discarded: UInt64 = 0

    package init(_ question: KernelQuestion, sequence: UInt32) {
        self.question = question
        self.sequence = sequence
    }

    /// The answer, valid once complete.
    package var answer: KernelAnswer {
        if failure != 0 { return .failure(failure) }
        switch question {
        case .addresses: return .addresses(addresses)
        case .rules: return .rules(rules)
        default: return .links(links)
        }
    }

    /// Adds the messages of one datagram.
    package mutating func read(_ bytes: RawSpan) {
        var walk = NetlinkMessages()
        while !isComplete, let message = walk.next(in: bytes) {
            guard message.sequence == sequence else {
                discarded &+= 1
                continue
            }
            if message.isInterrupted { isInterrupted = true }
            if !add(message, bytes) { discarded &+= 1 }
        }
        if walk.isMalformed { discarded &+= 1 }
    }

    /// Adds one message; false if it is malformed.
    private mutating func add(_ message: NetlinkMessage, _ bytes: RawSpan) -> Bool {
        switch Int(message.type) {
        case Int(NLMSG_DONE), Int(NLMSG_ERROR):
            isComplete = true
            failure = message.errorNumber(in: bytes) ?? 0
        case RTM_NEWLINK:
            guard let entry = LinkMessage(message.body, in: bytes) else { return false }
            // Old kernels ignore the filter by master.
            if case .ports(let master) = question, entry.link.master != master { return true }
            if entry.family == AddressFamily.unspecified { links.append(entry.link) }
        case RTM_NEWADDR:
            guard let address = InterfaceAddress(message.body, in: bytes) else { return false }
            addresses.append(address)
        case RTM_NEWRULE:
            guard let rule = RuleMessage(message.body, in: bytes) else { return false }
            rule.add(to: &rules)
        default: break
        }
        return true
    }
}
