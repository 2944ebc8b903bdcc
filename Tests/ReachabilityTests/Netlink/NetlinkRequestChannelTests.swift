// SPDX-License-Identifier: Apache-2.0

import Glibc
import Reachability
import ReachabilityCore
import Testing

@Suite("Questions to a scripted kernel")
struct NetlinkRequestChannelTests {
    private static let interrupted: Int32 = 0x10
    private let lookup = KernelQuestion.route(RouteLookup(destination: IPAddress(v4: 0x0C00_0001)))

    private func route(_ interface: Int32) -> KernelAnswer {
        .route(RouteAnswer(kind: .unicast, interface: interface, prefixLength: 32))
    }

    @Test("a batch is one datagram, and the replies are matched by number, in whatever order")
    func batch() throws {
        let kernel = ScriptedKernel { kernel, request in
            for sequence in ScriptedKernel.sequences(request).reversed() {
                kernel.queue.append(.bytes(ScriptedKernel.route(Int32(sequence) + 100, sequence: sequence)))
            }
        }
        let channel = NetlinkRequestChannel { kernel }
        let answers = try channel.answers(to: [lookup, lookup, lookup])
        #expect(kernel.sent.count == 1)
        let first = Int32(ScriptedKernel.sequences(kernel.sent[0])[0]) + 100
        #expect(answers == [route(first), route(first + 1), route(first + 2)])
    }

    @Test("RB-07 a late reply to an earlier question is discarded by its number")
    func lateReply() throws {
        var asked = 0
        var late: [UInt8] = []
        let kernel = ScriptedKernel { kernel, request in
            asked += 1
            let sequence = ScriptedKernel.sequences(request)[0]
            if asked == 1 {
                late = ScriptedKernel.route(1, sequence: sequence)
            } else {
                kernel.queue += [.bytes(late), .bytes(ScriptedKernel.route(2, sequence: sequence))]
            }
        }
        let channel = NetlinkRequestChannel { kernel }
        #expect(try channel.answers(to: [lookup]) == [route(2)])
        #expect(channel.discarded == 1)
    }

    @Test("RB-07 a retry asks again only what was left open")
    func retry() throws {
        let kernel = ScriptedKernel { kernel, request in
            let first = ScriptedKernel.sequences(request)[0]
            kernel.queue.append(.bytes(ScriptedKernel.route(9, sequence: first)))
        }
        let channel = NetlinkRequestChannel { kernel }
        #expect(try channel.answers(to: [lookup, lookup]) == [route(9), route(9)])
        #expect(kernel.sent.map { ScriptedKernel.sequences($0).count } == [2, 1])
    }

    @Test(
        "RB-10 a kernel that stays silent is asked three times, then it is an error; later it is asked again")
    func silence() throws {
        var isAwake = false
        let kernel = ScriptedKernel { kernel, request in
            guard isAwake else { return }
            kernel.queue.append(
                .bytes(ScriptedKernel.route(2, sequence: ScriptedKernel.sequences(request)[0])))
        }
        let channel = NetlinkRequestChannel { kernel }
        #expect { try channel.answers(to: [lookup]) } throws: {
            ($0 as? ReachabilityError)?.code == .timedOut
        }
        #expect(kernel.sent.count == 3)
        isAwake = true
        #expect(try channel.answers(to: [lookup]) == [route(2)])
    }

    @Test("RB-10 a dump that is not finished is asked again on a new socket, since the old one is busy")
    func silentDump() throws {
        var opened = 0
        let channel = NetlinkRequestChannel {
            opened += 1
            return ScriptedKernel { _, _ in }
        }
        #expect { try channel.dump(.links) } throws: { ($0 as? ReachabilityError)?.code == .timedOut }
        #expect(opened == 3)
    }

    @Test("RB-04 a dump during which something changed is repeated until it is of one piece")
    func interruptedDump() throws {
        var asked = 0
        let kernel = ScriptedKernel { kernel, request in
            asked += 1
            let sequence = ScriptedKernel.sequences(request)[0]
            // Interrupted in an entry, then only at the end, then not at all.
            kernel.queue += [
                .bytes(ScriptedKernel.link(1, sequence: sequence, flags: asked == 1 ? Self.interrupted : 0)),
                .bytes(ScriptedKernel.end(sequence: sequence, flags: asked == 2 ? Self.interrupted : 0)),
            ]
        }
        let channel = NetlinkRequestChannel { kernel }
        let (answer, isWhole) = try channel.dump(.links)
        #expect(isWhole)
        #expect(asked == 3)
        guard case .links(let links) = answer else {
            Issue.record("no links")
            return
        }
        #expect(links.map(\.index) == [1])
    }

    @Test("RB-04 after five repetitions it is accepted as it is, and not remembered as whole")
    func alwaysInterrupted() throws {
        var asked = 0
        let kernel = ScriptedKernel { kernel, request in
            asked += 1
            let sequence = ScriptedKernel.sequences(request)[0]
            kernel.queue.append(.bytes(ScriptedKernel.end(sequence: sequence, flags: Self.interrupted)))
        }
        let (_, isWhole) = try NetlinkRequestChannel { kernel }.dump(.links)
        #expect(!isWhole)
        #expect(asked == 6)
    }

    @Test("RB-05 a reply that does not fit makes the buffer grow, and the question is put again")
    func truncation() throws {
        let kernel = ScriptedKernel { kernel, request in
            let sequence = ScriptedKernel.sequences(request)[0]
            kernel.queue = [.bytes(ScriptedKernel.link(1, sequence: sequence, padding: 60_000))]
        }
        let answers = try NetlinkRequestChannel { kernel }.answers(to: [.link(1)])
        guard case .link(let link) = answers[0] else {
            Issue.record("no link")
            return
        }
        #expect(link.name == "eth1")
        #expect(kernel.sent.count == 2)
        #expect(NetlinkSocket.grown(32768, needed: 1 << 20) == 256 * 1024)
        #expect(NetlinkSocket.grown(32768, needed: 40_000) == 65536)
    }

    @Test("RB-06 replies of others are read past; a stranger cannot hold us up for ever")
    func foreignDatagrams() throws {
        let polite = ScriptedKernel { kernel, request in
            let sequence = ScriptedKernel.sequences(request)[0]
            kernel.queue = [.reception(.foreign), .bytes(ScriptedKernel.route(2, sequence: sequence))]
        }
        let channel = NetlinkRequestChannel { polite }
        #expect(try channel.answers(to: [lookup]) == [route(2)])
        #expect(channel.discarded == 1)

        let rude = ScriptedKernel { kernel, _ in
            kernel.queue = Array(repeating: .reception(.foreign), count: 100_000)
        }
        #expect(throws: ReachabilityError.self) { try NetlinkRequestChannel { rude }.answers(to: [lookup]) }
    }

    @Test("RB-12 a broken socket is replaced by a new one")
    func broken() throws {
        var opened = 0
        let channel = NetlinkRequestChannel {
            opened += 1
            let isFirst = opened == 1
            return ScriptedKernel { kernel, request in
                let sequence = ScriptedKernel.sequences(request)[0]
                kernel.queue =
                    isFirst
                    ? [.reception(.broken(errno: EBADF))]
                    : [.bytes(ScriptedKernel.route(2, sequence: sequence))]
            }
        }
        #expect(try channel.answers(to: [lookup]) == [route(2)])
        #expect(opened == 2)
    }

    @Test("RB-11 RB-16 where no socket can be opened, the error says why and what to try")
    func refused() {
        for (number, code) in [(EPERM, ReachabilityError.Code.netlinkRefused), (EMFILE, .outOfResources)] {
            let channel = NetlinkRequestChannel { () throws(NetlinkError) -> any NetlinkTransport in
                throw NetlinkError("open a route netlink socket", errno: number)
            }
            #expect {
                try channel.answers(to: [lookup])
            } throws: {
                guard let error = $0 as? ReachabilityError else { return false }
                return error.code == code && error.errno == number && !error.advice.isEmpty
            }
        }
    }

    @Test("RB-16 requests that cannot even be sent are told as that, not as silence")
    func unsent() throws {
        let kernel = ScriptedKernel { kernel, request in
            kernel.queue = [.bytes(ScriptedKernel.route(2, sequence: ScriptedKernel.sequences(request)[0]))]
        }
        kernel.refusal = NetlinkError("send to the kernel", errno: EPERM)
        let channel = NetlinkRequestChannel { kernel }
        #expect { try channel.answers(to: [lookup]) } throws: {
            ($0 as? ReachabilityError)?.code == .netlinkRefused
        }
        kernel.refusal = nil
        #expect(try channel.answers(to: [lookup]) == [route(2)])
    }

    @Test("a refusal is an answer, with the kernel's own words where it has any")
    func refusal() throws {
        let recorded = try #require(NetlinkRecording("replies").datagrams("refused with words").first)
        let kernel = ScriptedKernel { kernel, request in
            var bytes = recorded
            withUnsafeBytes(of: ScriptedKernel.sequences(request)[0]) {
                bytes.replaceSubrange(8..<12, with: $0)
            }
            kernel.queue = [.bytes(bytes)]
        }
        let channel = NetlinkRequestChannel { kernel }
        #expect(try channel.answers(to: [lookup]) == [.failure(EINVAL)])
        #expect(channel.refusal?.contains("flags") == true)
    }

    @Test(
        "RB-10 a failure of the moment is no answer, to a single question and to a dump",
        arguments: [EINTR, EAGAIN, ENOMEM, ENOBUFS, EBADMSG])
    func failureOfTheMoment(_ errno: Int32) throws {
        let kernel = ScriptedKernel { kernel, request in
            for sequence in ScriptedKernel.sequences(request) {
                kernel.queue.append(.bytes(ScriptedKernel.end(2, errno: errno, sequence: sequence)))
            }
        }
        let channel = NetlinkRequestChannel { kernel }
        for questions in [[lookup], [.link(3)], [lookup, .linkNamed("eth0")]] {
            let error = #expect(throws: ReachabilityError.self) { try channel.answers(to: questions) }
            #expect(error?.errno == errno)
        }
        for question in [KernelQuestion.links, .addresses, .ports(master: 3)] {
            let error = #expect(throws: ReachabilityError.self) { try channel.dump(question) }
            #expect(error?.errno == errno)
        }
    }

    @Test("RB-15 a kernel without RTM_F_FIB_MATCH answers about a cloned route; that is no entry")
    func noEntry() throws {
        let entry = KernelQuestion.route(RouteLookup(destination: IPAddress(v4: 1), wantsEntry: true))
        let kernel = ScriptedKernel { kernel, request in
            var bytes = ScriptedKernel.route(2, sequence: ScriptedKernel.sequences(request)[0])
            bytes[16 + 9] = 0x02  // RTM_F_CLONED
            kernel.queue = [.bytes(bytes)]
        }
        #expect(try NetlinkRequestChannel { kernel }.answers(to: [entry]) == [.failure(EOPNOTSUPP)])
    }
}
