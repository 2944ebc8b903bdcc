// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Reachability
import ReachabilityCore
import ServiceCore
import TestSupport
import Testing

@testable import Service

/// A connection whose service was released first, because its end took longer than permitted.
@Suite("Clients of a service that has gone", .timeLimit(.minutes(10)))
struct VarlinkConnectionTests {
    private static func server() -> VarlinkServer {
        let statusService = StatusService(identity: .init(version: "1"), batches: KernelEventBatches()) {
            (_) throws(ReachabilityError) in
            throw ReachabilityError(.timedOut, context: "nobody looks", advice: "")
        }
        return VarlinkServer(
            limits: VarlinkLimits(), statusService: statusService, mayUseOutbox: { _ in false },
            isOwner: { _ in false }
        ) { () throws(ServiceError) in throw ServiceError("no socket") }
    }

    @Test(
        "who asks something, and who hangs up, is hung up on",
        arguments: ["{\"method\":\"org.varlink.service.GetInfo\"}", ""])
    func alone(_ call: String) async throws {
        var pair: [Int32] = [-1, -1]
        try #require(
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
        let near = pair[0]
        let far = OwnedDescriptor(adopting: pair[1])
        _ = fcntl(near, F_SETFL, fcntl(near, F_GETFL) | O_NONBLOCK)
        let reactor = try Reactor(name: "service-test")
        let connection = try await reactor.result {
            let connection = VarlinkConnection(
                1, OwnedDescriptor(adopting: near), PeerCredentials(process: 1, user: 0, group: 0), reactor,
                VarlinkLimits(), server: Self.server())
            #expect(connection.open())
            return LoopBound(connection, to: reactor)
        }
        let bytes = call.isEmpty ? [] : Array(call.utf8) + [0]
        if bytes.isEmpty {
            shutdown(far.number, Int32(SHUT_WR))
        } else {
            #expect(send(far.number, bytes, bytes.count, 0) == bytes.count)
        }
        // Until the other end is closed.
        var byte: UInt8 = 0
        #expect(recv(far.number, &byte, 1, 0) == 0)
        #expect(try await reactor.result { connection.here { $0.isClosed } })
        reactor.stop()
    }
}
