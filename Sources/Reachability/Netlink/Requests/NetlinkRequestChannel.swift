// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Glibc
package import ReachabilityCore

/// Puts questions to route netlink and waits for the replies.
package final class NetlinkRequestChannel {
    /// How often a question is put before the kernel counts as silent (RB-10).
    private static let attempts = 3
    /// How often a dump is repeated because something changed meanwhile (RB-04).
    private static let repetitions = 5
    /// How many requests go in one datagram; their replies have to fit the receive buffer together.
    private static let batchLimit = 32
    /// Datagrams of others that are read past in one wait, so that nobody can hold us up for ever.
    private static let foreignDatagramLimit = 1024

    private let open: () throws(NetlinkError) -> any NetlinkTransport
    private var transport: (any NetlinkTransport)?
    /// Why the last request could not even be sent.
    private var unsent: NetlinkError?
    private var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferSizes.lowerBound)
    private var request = NetlinkRequest()
    private var sequence: UInt32 = 1
    /// Messages dropped: late, malformed, or not the kernel's.
    package private(set) var discarded: UInt64 = 0
    /// The kernel's own words for its last refusal, where it gave any.
    package private(set) var refusal: String?

    /// A channel over what `open` opens, when it is needed and again when it broke.
    package init(open: @escaping () throws(NetlinkError) -> any NetlinkTransport) { self.open = open }

    /// The answers to single questions (`isSingle`), in their order.
    ///
    /// - Throws: where the kernel did not answer, or could not at this moment (``KernelErrno/isTransient``).
    package func answers(to questions: [KernelQuestion]) throws(ReachabilityError) -> [KernelAnswer] {
        if questions.count <= Self.batchLimit { return try batch(questions) }
        var answers: [KernelAnswer] = []
        answers.reserveCapacity(questions.count)
        var start = 0
        while start < questions.count {
            let end = min(start + Self.batchLimit, questions.count)
            answers += try batch(Array(questions[start..<end]))
            start = end
        }
        return answers
    }

    /// The answer to a question that takes a dump, and whether it is of one piece; throws like ``answers(to:)``.
    package func dump(_ question: KernelQuestion) throws(ReachabilityError) -> (KernelAnswer, isWhole: Bool) {
        var silences = 0
        var interruptions = 0
        while true {
            var sheet = DumpReply(question, sequence: take(1))
            request.clear()
            question.write(into: &request, sequence: sequence &- 1)
            let isHeard =
                try send()
                && collect { bytes in
                    sheet.read(bytes)
                    return sheet.isComplete
                }
            discarded &+= sheet.discarded
            guard isHeard else {
                silences += 1
                // A dump that was not read to its end keeps the socket busy (EBUSY): begin with a new one.
                transport = nil
                if silences == Self.attempts { throw silence }
                continue
            }
            if let failure = Self.failureOfTheMoment(sheet.answer) { throw failure }
            guard sheet.isInterrupted else { return (sheet.answer, true) }
            interruptions += 1
            if interruptions > Self.repetitions { return (sheet.answer, false) }
            // The kernel tells no event for "the table is quiet now". Half a millisecond, then one, then more, lets the
            // change that interrupted the dump pass; asking again at once would meet it again (RB-04).
            usleep(UInt32.random(in: 100...500) * UInt32(interruptions))
        }
    }

    private func batch(_ questions: [KernelQuestion]) throws(ReachabilityError) -> [KernelAnswer] {
        var sheet = BatchReply(questions, first: take(UInt32(questions.count)))
        for attempt in 0..<Self.attempts {
            // What has been answered is not asked again.
            if attempt > 0 { sheet.renumber(take(UInt32(questions.count))) }
            request.clear()
            sheet.write(into: &request)
            if try send() {
                _ = collect { bytes in
                    sheet.read(bytes)
                    return sheet.missing == 0
                }
            }
            if sheet.missing == 0 { break }
        }
        discarded &+= sheet.discarded
        refusal = sheet.words ?? refusal
        guard let answers = sheet.complete else { throw silence }
        for answer in answers { if let failure = Self.failureOfTheMoment(answer) { throw failure } }
        return answers
    }

    /// The error behind a refusal that says nothing of the network: interrupted, no memory, no buffer, unreadable.
    ///
    /// Taken for an answer it would mean that there is no route or no link, and nothing would ask again.
    private static func failureOfTheMoment(_ answer: KernelAnswer) -> ReachabilityError? {
        guard case .failure(let number) = answer, KernelErrno(errno: number).isTransient else {
            return nil
        }
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

    /// Takes so many numbers for requests; they come again after 2^32.
    private func take(_ count: UInt32) -> UInt32 {
        defer { sequence &+= count }
        return sequence
    }

    /// Sends what is written; false where the socket broke and a new one has to be tried.
    private func send() throws(ReachabilityError) -> Bool {
        do throws(NetlinkError) {
            let transport = if let transport { transport } else { try open() }
            self.transport = transport
            do throws(NetlinkError) {
                try transport.send(request.bytes)
                unsent = nil
                return true
            } catch {
                unsent = error
                self.transport = nil
                return false
            }
        } catch {
            throw error.asReachabilityError
        }
    }

    /// Reads replies until `take` has what it wants; false where it did not get that.
    private func collect(_ take: (RawSpan) -> Bool) -> Bool {
        var foreignDatagrams = 0
        while let transport {
            switch transport.receive(into: &buffer) {
            case .datagram(let byteCount):
                let datagram = buffer
                if take(datagram.span.bytes.extracting(0..<byteCount)) { return true }
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

    private var silence: ReachabilityError {
        if let unsent { return unsent.asReachabilityError }
        return ReachabilityError(
            .timedOut, errno: ETIMEDOUT,
            context:
                "the kernel left \(Self.attempts) requests unanswered for \(KernelTransport.patience) ms each",
            advice:
                "it may be busy with its network configuration (thousands of interfaces or routes changing)")
    }
}
