// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
import TestSupport
import Testing

/// Descriptors that the kernel does not watch.
@Suite struct ReactorRefusalTests {
    @Test func refusedDescriptor_IsReportedToItsHandler_Once() async throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<Readiness>()
        // Directories cannot be polled (EPERM, epoll_ctl(2)).
        let directory = open("/", O_RDONLY | O_CLOEXEC)
        defer { close(directory) }
        try await reactor.result { try reactor.watch(directory, for: .readable) { log.append($0) } }
        #expect(await log.wait(forCount: 1) == [[.error, .refused]])
        await #expect(throws: ReactorError("watching descriptor -1", errno: EBADF)) {
            try await reactor.result { try reactor.watch(-1, for: .readable) { _ in } }
        }
        reactor.stop()
        #expect(log.elements.count == 1)
    }

    @Test func refusedDescriptor_IsTriedAgain_IfThatIsWanted() async throws {
        let reactor = try Reactor(name: "test")
        let pair = try DescriptorPair()
        let log = EventLog<Readiness>()
        // epoll instances may watch each other five deep (ELOOP, epoll_ctl(2)): the kernel refuses the first.
        let nested = (0..<5).map { _ in epoll_create1(Int32(EPOLL_CLOEXEC)) }
        defer { for descriptor in nested { close(descriptor) } }
        let readable = UInt32(CLINUX_EPOLLIN)
        for (outer, inner) in zip(nested, nested.dropFirst()) {
            try #require(clinux_epoll_ctl(outer, EPOLL_CTL_ADD, inner, readable, 0) == 0)
        }
        let first = nested[0]
        try await reactor.result {
            try reactor.watch(first, for: .readable, retrying: true) {
                log.append($0)
                reactor.unwatch(first)
            }
        }
        #expect(try await reactor.result { reactor.holdings.timers } == 1)
        #expect(log.elements.isEmpty)
        pair.signal()
        try #require(clinux_epoll_ctl(first, EPOLL_CTL_DEL, nested[1], 0, 0) == 0)
        try #require(clinux_epoll_ctl(first, EPOLL_CTL_ADD, pair.near.number, readable, 0) == 0)
        #expect(await log.wait(forCount: 1) == [.readable])
        #expect(try await reactor.result { reactor.holdings.watches } == 0)
    }

    @Test func refusedDescriptor_IsReported_IfItCanNeverBeWatched() async throws {
        let reactor = try Reactor(name: "test")
        let directory = open("/", O_RDONLY | O_CLOEXEC)
        defer { close(directory) }
        let log = EventLog<Readiness>()
        // What can never be watched is told, though another try was wanted.
        try await reactor.result {
            try reactor.watch(directory, for: .readable, retrying: true) { log.append($0) }
        }
        #expect(await log.wait(forCount: 1) == [[.error, .refused]])
        #expect(try await reactor.result { reactor.holdings.timers + reactor.holdings.watches } == 0)
    }

    @Test func hooks_SeeWhatARefusedWatchLeadTo() async throws {
        let reactor = try Reactor(name: "test")
        let log = EventLog<String>()
        let directory = open("/", O_RDONLY | O_CLOEXEC)
        defer { close(directory) }
        try await reactor.result {
            var isDue = false
            _ = reactor.beforeWait {
                if isDue { log.append("seen") }
                isDue = false
            }
            try reactor.watch(directory, for: .readable) { _ in isDue = true }
        }
        #expect(await log.wait(forCount: 1) == ["seen"])
    }
}
