// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Glibc
package import ReachabilityCore

/// Sends questions to route netlink and waits for the replies.
package final class NetlinkRequestChannel {
    /// Attempts before the kernel counts as silent (RB-10).
    private static let attempts = 3
    /// Repetitions of a dump that a change interrupted (RB-04).
    private static let repetitions = 5
    /// Requests per datagram; their replies must fit the receive buffer together.
    private static let batchLimit = 32
    /// Datagrams of other senders skipped in one wait, so that the wait is bounded.
    private static let foreignDatagramLimit = 1024

    private let open: () throws(NetlinkError) -> any NetlinkTransport
    private var transport: (any NetlinkTransport)?
    /// The failure of the last send.
    private var sendError: NetlinkError?
    private var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferSizes.lowerBound)
    private var request = NetlinkRequest()
    private var sequence: UInt32 = 1
    /// Discarded messages: late, malformed, or not from the kernel.
    package private(set) var discarded: UInt64 = 0
    /// The kernel's message for its last refusal, if any.
    package private(set) var refusal: String?

    /// A channel over the transport that `open` creates, when needed and after a failure.
    package init(open: @escaping () throws(NetlinkError) -> any NetlinkTransport) { self.open = open }

    /// The answers to single questions (`isSingle`), in their order.
    ///
    /// - Throws: if the kernel did not answer, or with a transient errno (``KernelErrno/isTransient``).
    package func answers(to questions: [KernelQuestion]) throws(ReachabilityError) -> [KernelAnswer] {
        if questions.count <= Self.batchLimit { return try batch(questions) }
        var answers: [KernelAnswer] = []
        for start in stride(from: 0, to: questions.count, by: Self.batchLimit) {
            answers += try batch(Array(questions[start...].prefix(Self.batchLimit)))
        }
        return answers
    }

    /// The answer to a question that needs a dump, and whether it is consistent; see ``answers(to:)``.
    package func dump(_ question: KernelQuestion) throws(ReachabilityError) -> (KernelAnswer, isWhole: Bool) {
        var timeouts = 0
        var interruptions = 0
        while true {
            var reply = DumpReply(question, sequence: reserve(1))
            request.clear()
            question.write(into: &request, sequence: sequence &- 1)
            let isAnswered =
                try send()
                && collect { bytes in
                    reply.read(bytes)
                    return reply.isComplete
                }
            discarded &+= reply.discarded
            guard isAnswered else {
                timeouts += 1
                // An unfinished dump keeps the socket busy (EBUSY), so the next attempt uses a new one.
                transport = nil
                if timeouts == Self.attempts { throw timeout }
                continue
            }
            if let failure = Self.transientFailure(reply.answer) { throw failure }
            guard reply.isInterrupted else { return (reply.answer, true) }
            interruptions += 1
            if interruptions > Self.repetitions { return (reply.answer, false) }
            // A growing delay lets the interrupting change finish, whose end no event announces (RB-04).
            usleep(UInt32.random(in: 100...500) * UInt32(interruptions))
        }
    }

    private func batch(_ questions: [KernelQuestion]) throws(ReachabilityError) -> [KernelAnswer] {
        var reply = BatchReply(questions, first: reserve(UInt32(questions.count)))
        for attempt in 0..<Self.attempts {
            // Only unanswered questions are sent again.
            if attempt > 0 { reply.renumber(reserve(UInt32(questions.count))) }
            request.clear()
            reply.write(into: &request)
            if try send() {
                _ = collect { bytes in
                    reply.read(bytes)
                    return reply.missing == 0
                }
            }
            if reply.missing == 0 { break }
        }
        discarded &+= reply.discarded
        refusal = reply.refusal ?? refusal
        guard let answers = reply.complete else { throw timeout }
        for answer in answers { if let failure = Self.transientFailure(answer) { throw failure } }
        return answers
    }

    /// The error for a refusal that says nothing about the network: interrupted, no memory, unreadable.
    ///
    /// As an answer it would mean a missing route or link, and no event would trigger another evaluation.
    private static func transientFailure(_ answer: KernelAnswer) -> ReachabilityError? {
        guard case .failure(let number) = answer, KernelErrno(errno: number).isTransient else { return nil }
        if number == EBADMSG {
            return ReachabilityError(
                .protocolViolation, errno: number, context: "the kernel's answer cannot be read",
                advice: "please report this with the output of `reach record`")
        }
        return ReachabilityError(
            .outOfResources, errno: number,
            context: "the kernel could not answer: \(KernelNames.error(number))",
            advice: "it is asked again; free memory if this goes on")
    }

    /// Reserves sequence numbers; they repeat after 2^32.
    private func reserve(_ count: UInt32) -> UInt32 {
        defer { sequence &+= count }
        return sequence
    }

    /// Sends the request; false if the socket broke and a new one is needed.
    private func send() throws(ReachabilityError) -> Bool {
        do throws(NetlinkError) {
            let transport = if let transport { transport } else { try open() }
            self.transport = transport
            do throws(NetlinkError) {
                try transport.send(request.bytes)
                sendError = nil
                return true
            } catch {
                sendError = error
                self.transport = nil
                return false
            }
        } catch {
            throw error.asReachabilityError
        }
    }

    /// Reads replies until `consume` is complete; false if it is not.
    private func collect(until consume: (RawSpan) -> Bool) -> Bool {
        var foreignDatagrams = 0
        while let transport {
            switch transport.receive(into: &buffer) {
            case .datagram(let byteCount):
                let datagram = buffer
                if consume(datagram.span.bytes.extracting(0..<byteCount)) { return true }
            case .foreign:
                discarded &+= 1
                foreignDatagrams += 1
                if foreignDatagrams == Self.foreignDatagramLimit { return false }
            case .truncated(let needed):
                let size = NetlinkSocket.grown(buffer.count, needed: needed)
                if size != buffer.count { buffer = [UInt8](repeating: 0, count: size) }
                return false
            case .nothing, .overrun: return false
            case .broken: self.transport = nil
            }
        }
        return false
    }

    private var timeout: ReachabilityError {
        if let sendError { return sendError.asReachabilityError }
        return ReachabilityError(
            .timedOut, errno: ETIMEDOUT,
            context:
                "the kernel left \(Self.attempts) requests unanswered for \(KernelTransport.replyTimeout) ms each",
            advice:
                "it may be busy with its network configuration (thousands of interfaces or routes changing)")
    }
}
