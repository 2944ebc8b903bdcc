// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// The replies to a batch of requests, matched by sequence number, so that late replies are discarded.
package struct BatchReply {
    private var first: UInt32
    private let questions: [KernelQuestion]
    /// The answers so far, in the order of the questions.
    package private(set) var answers: [KernelAnswer?]
    package private(set) var missing: Int
    /// Discarded messages: late, malformed, or unrelated.
    package private(set) var discarded: UInt64 = 0
    /// The kernel's message for a refusal (NLMSGERR_ATTR_MSG).
    package private(set) var refusal: String?

    /// The reply to questions numbered from `first`.
    package init(_ questions: [KernelQuestion], first: UInt32) {
        self.first = first
        self.questions = questions
        answers = questions.map { _ in nil }
        missing = questions.count
    }

    /// Renumbers the questions, so that late replies to earlier requests do not match.
    mutating func renumber(_ first: UInt32) { self.first = first }

    /// Appends a request for each unanswered question.
    func write(into request: inout NetlinkRequest) {
        for position in questions.indices where answers[position] == nil {
            questions[position].write(into: &request, sequence: first &+ UInt32(position))
        }
    }

    /// The answers; nil while any is missing.
    var complete: [KernelAnswer]? { missing == 0 ? answers.compactMap { $0 } : nil }

    /// Adds the replies in one datagram.
    package mutating func read(_ bytes: RawSpan) {
        var walk = NetlinkMessages()
        while let message = walk.next(in: bytes) {
            let position = Int(message.sequence &- first)
            guard position < questions.count, answers[position] == nil else {
                discarded &+= 1
                continue
            }
            answers[position] = answer(to: questions[position], in: message, bytes)
            missing -= 1
        }
        if walk.isMalformed { discarded &+= 1 }
    }

    private mutating func answer(
        to question: KernelQuestion, in message: NetlinkMessage, _ bytes: RawSpan
    ) -> KernelAnswer {
        if message.type == UInt16(NLMSG_ERROR), let number = message.errorNumber(in: bytes), number != 0 {
            refusal = message.refusal(in: bytes) ?? refusal
            return .failure(number)
        }
        if let answer = question.answer(in: message, bytes) { return answer }
        // A malformed answer counts as a refusal, because the next one would be the same.
        discarded &+= 1
        return .failure(EBADMSG)
    }
}

extension NetlinkMessage {
    /// The message in an NLMSG_ERROR (NETLINK_EXT_ACK, netlink(7)); nil if there is none.
    package func refusal(in bytes: RawSpan) -> String? {
        // NLM_F_ACK_TLVS: attributes follow; NLM_F_CAPPED: after the request's header, without its body.
        guard Int32(flags) & NLM_F_ACK_TLVS != 0, Int32(flags) & NLM_F_CAPPED != 0 else { return nil }
        var attributes = NetlinkAttributes(body, skipping: 4 + NetlinkLayout.header)
        while let attribute = attributes.next(in: bytes) {
            if attribute.type == NLMSGERR_ATTR_MSG.rawValue { return bytes.text(in: attribute.payload) }
        }
        return nil
    }
}
