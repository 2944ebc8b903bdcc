// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Service
import ServiceCore
import TestSupport
import Testing

/// A socket whose queue other clients fill (unix(7)).
@Suite("A crowded socket")
struct CrowdedSocketTests {
    /// A socket with a tiny queue, which accepts no client until the test says so.
    private final class Listener: Sendable {
        let path: String
        private let number: Int32

        init(_ path: String) throws {
            self.path = path
            number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            let bound = withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(bound == 0 && listen(number, 0) == 0)
        }

        func accept() -> Int32 { Glibc.accept(number, nil, nil) }
        deinit { close(number) }
    }

    private let folder: ScratchFolder
    init() throws { folder = try ScratchFolder("reach-crowd") }

    /// The failure of a caller that does not wait; nil if it was accepted.
    private func kind(_ path: String, until limit: Int64) -> ServiceError.Kind? {
        do throws(ServiceError) {
            _ = try VarlinkClient(path: path, until: limit)
            return nil
        } catch { return error.kind }
    }

    @Test("FLD-100 a service does not wait for another program whose queue is full, and says so")
    func start() throws {
        let listener = try Listener(folder("socket"))
        let first = try VarlinkClient(path: listener.path, until: 0)
        let error = #expect(throws: ServiceError.self) { _ = try UnixListener(path: listener.path) }
        #expect(error.map { "\($0)".contains("another service answers at \(listener.path)") } == true)
        withExtendedLifetime(first) {}
    }

    @Test("FLD-053 absent and busy are two answers; who is patient is let in when its turn comes")
    func turn() async throws {
        let listener = try Listener(folder("socket"))
        #expect(kind(folder("none"), until: 0) == .absent)
        // A queue of length 0 holds one.
        let first = try VarlinkClient(path: listener.path, until: 0)
        #expect(kind(listener.path, until: 0) == .busy)
        let (path, patience) = (listener.path, Reactor.now + 60_000_000_000)
        let caller = Task.detached { kind(path, until: patience) }
        // The first leaves the queue, so there is room for the waiting one.
        let accepted = listener.accept()
        #expect(accepted >= 0)
        #expect(await caller.value == nil)
        close(accepted)
        _ = consume first
    }
}
