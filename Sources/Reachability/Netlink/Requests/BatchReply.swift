// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// The replies to a batch of requests, matched by sequence number and by nothing else.
///
/// A reply that comes late belongs to a request whose number is not on the sheet, and is left out.
package struct BatchReply {
    private var first: UInt32
    private let questions: [KernelQuestion]
    /// The answers so far, in the order of the questions.
    package private(set) var answers: [KernelAnswer?]
    /// Replies still to come.
    package private(set) var missing: Int
    /// Messages left out: late, malformed, or nobody's.
    package private(set) var discarded: UInt64 = 0
    /// The kernel's own words for a refusal (NLMSGERR_ATTR_MSG).
    package private(set) var words: String?

    /// A sheet for questions numbered from `first`.
    package init(_ questions: [KernelQuestion], first: UInt32) {
        self.first = first
        self.questions = questions
        answers = []
        answers.reserveCapacity(questions.count)
        for _ in questions { answers.append(nil) }
        missing = questions.count
    }

    /// Numbers the questions anew, so that no late reply to the requests before is taken for one to the next.
    mutating func renumber(_ first: UInt32) { self.first = first }

    /// Appends a request for each question that has no answer yet.
    func write(into request: inout NetlinkRequest) {
        for position in questions.indices where answers[position] == nil {
            questions[position].write(into: &request, sequence: first &+ UInt32(position))
        }
    }

    /// The answers, where none is missing.
    var complete: [KernelAnswer]? {
        guard missing == 0 else { return nil }
        var complete: [KernelAnswer] = []
        complete.reserveCapacity(answers.count)
        for case .some(let answer) in answers { complete.append(answer) }
        return complete
    }

    /// Enters the replies in one datagram.
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
            words = message.refusal(in: bytes) ?? words
            return .failure(number)
        }
        if let answer = question.answer(in: message, bytes) { return answer }
        // It cannot be read, and asking again would bring the same.
        discarded &+= 1
        return .failure(EBADMSG)
    }
}

extension NetlinkMessage {
    /// The words in an NLMSG_ERROR message (NETLINK_EXT_ACK, netlink(7)); nil where there are none.
    package func refusal(in bytes: RawSpan) -> String? {
        // NLM_F_ACK_TLVS: attributes follow; NLM_F_CAPPED: behind the header of the request, without its body.
        guard Int32(flags) & NLM_F_ACK_TLVS != 0, Int32(flags) & NLM_F_CAPPED != 0 else { return nil }
        var attributes = NetlinkAttributes(body, skipping: 4 + NetlinkLayout.header)
        while let attribute = attributes.next(in: bytes) {
            if attribute.type == NLMSGERR_ATTR_MSG.rawValue { return bytes.text(in: attribute.payload) }
        }
        return nil
    }
}
