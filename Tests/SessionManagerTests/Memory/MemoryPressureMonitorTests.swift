// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import FoundationEssentials
import Glibc
import SessionCore
import SessionManager
import SessionManagerExtras
import Synchronization
import TestSupport
import Testing

struct MemoryPressureMonitorTests {
    /// Whether this kernel tells of pressure, and to this process.
    private static var hasPressure: Bool {
        var threshold = MemoryPressureThreshold()
        threshold.stall = .seconds(1)
        return (try? MemoryPressureMonitor(threshold, handler: {})) != nil
    }

    @Test(
        "a kernel that tells nothing is an error with a reason",
        arguments: ["/nowhere/memory.pressure", "/proc/self/status"])
    func missing(_ file: String) {
        #expect {
            try MemoryPressureMonitor(files: [file], handler: {})
        } throws: {
            guard let error = $0 as? SessionError else { return false }
            return error.code == .unsupportedBySystem && error.message.hasPrefix(file)
                && !error.advice.isEmpty
        }
    }

    @Test("what is there is watched, what is not is left out", .enabled(if: hasPressure, "no pressure files"))
    func someMissing() throws {
        let monitor = try MemoryPressureMonitor(files: ["/nowhere/memory.pressure", "/proc/pressure/memory"])
        {}
        #expect(monitor.files == ["/proc/pressure/memory"])
        #expect(MemoryPressureMonitor.defaultFiles.first == "/proc/pressure/memory")
    }

    @Test("a trigger calls once for each time, and not any more once the monitor is gone")
    func trigger() async throws {
        let reactor = try Reactor(name: "pressure")
        defer { reactor.stop() }
        let pair = try UrgentPair()
        let number = pair.number
        let calls = EventLog<UInt8>()
        var monitor: MemoryPressureMonitor? = MemoryPressureMonitor(
            [pair.removeTrigger()].compactMap { $0 }, files: [], on: reactor, queue: .custom { $0() }
        ) {
            // A pressure file is not ready any more once it has been asked; a socket is, until a reader
            // reads.
            var byte: UInt8 = 0
            recv(number, &byte, 1, Int32(MSG_OOB))
            calls.append(byte)
        }
        #expect(monitor != nil)
        for byte: UInt8 in 1...2 {
            #expect(pair.send(byte))
            await calls.wait { $0.last == byte }
        }
        #expect(calls.elements == [1, 2])
        monitor = nil
        #expect(try await watches(reactor) == 0)
        // On a thread of its own: no other is to wait.
        let other = try Reactor(name: "far")
        defer { other.stop() }
        #expect(try await other.result { pair.isLeft })
    }

    @Test("a control group that is removed is not listened to any more")
    func removed() async throws {
        let reactor = try Reactor(name: "pressure")
        defer { reactor.stop() }
        let pair = try UrgentPair()
        let monitor = MemoryPressureMonitor(
            [pair.removeTrigger()].compactMap { $0 }, files: [], on: reactor, queue: .custom { $0() },
            handler: {})
        #expect(try await watches(reactor) == 1)
        // Both directions closed is what a descriptor reports unasked.
        pair.shutDown()
        while try await watches(reactor) > 0 { await Task.yield() }
        withExtendedLifetime(monitor) {}
    }

    private func watches(_ reactor: Reactor) async throws -> Int {
        try await reactor.result { [unowned reactor] in reactor.holdings.watches }
    }

    @Test(
        "memory runs short: caches are emptied, and not kept alive",
        .enabled(if: hasPressure, "no pressure files"))
    func purge() async throws {
        let cache = AutoPurgingCache<Int> { _ in 1 }
        var gone: AutoPurgingCache<Int>? = AutoPurgingCache<Int> { _ in 1 }
        weak let weakly = gone
        var threshold = MemoryPressureThreshold()
        threshold.stall = .microseconds(1)
        // Of processors, since that is easy to make; its file behaves as the one of memory does.
        let monitor = try MemoryPressureMonitor(
            threshold, files: ["/proc/pressure/cpu"], purging: [cache, try #require(gone)])
        gone = nil
        #expect(weakly == nil)
        cache.insert(1, for: AssetKey(try #require(URL(string: "http://host/"))))
        let ended = EventLog<Int>()
        let isDone = Atomic(false)
        let count = 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN)) + 1
        for _ in 0..<count {
            let thread = try LoopThread.start(name: "busy") {
                // Of this thread alone (setpriority(2), NOTES): waiting for a processor counts, and hinders
                // no other thread.
                setpriority(Int32(PRIO_PROCESS.rawValue), 0, 19)
                while cache.count > 0, !isDone.load(ordering: .relaxed) {}
                ended.append(1)
            }
            thread.detach()
        }
        await ended.wait(forCount: count)
        #expect(cache.count == 0)
        isDone.store(true, ordering: .relaxed)
        withExtendedLifetime(monitor) {}
    }
}

/// Two ends of a TCP connection: what is urgent there makes a descriptor ready as a pressure file becomes
/// (`POLLPRI`, tcp(7)).
private final class UrgentPair: Sendable {
    private let trigger: Mutex<MemoryPressureMonitor.Trigger?>
    /// The trigger's.
    let number: Int32
    private let far: OwnedDescriptor

    init() throws {
        func made(_ number: Int32) throws -> OwnedDescriptor {
            guard number >= 0 else { throw LabError("a socket", errno: errno) }
            return OwnedDescriptor(adopting: number)
        }
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let listener = try made(socket(AF_INET, kind, 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        far = try made(socket(AF_INET, kind, 0))
        let (one, other) = (listener.number, far.number)
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(one, $0, size) == 0 && listen(one, 1) == 0 && getsockname(one, $0, &size) == 0
                    && connect(other, $0, size) == 0
            }
        }
        guard isConnected else { throw LabError("connecting to oneself", errno: errno) }
        // No other test's process is to keep it open.
        number = clinux_accept(one)
        trigger = Mutex(MemoryPressureMonitor.Trigger(try made(number)))
        withExtendedLifetime(listener) {}
    }

    /// The near end; once.
    func removeTrigger() -> MemoryPressureMonitor.Trigger? { trigger.withLock { $0.take() } }

    /// Waits until the near end is closed; false where it says something instead.
    var isLeft: Bool {
        var byte: UInt8 = 0
        // Reset, where it has not read all.
        return recv(far.number, &byte, 1, 0) <= 0
    }

    func send(_ byte: UInt8) -> Bool {
        var byte = byte
        return Glibc.send(far.number, &byte, 1, Int32(MSG_OOB)) == 1
    }

    func shutDown() {
        shutdown(far.number, Int32(SHUT_RDWR))
        shutdown(number, Int32(SHUT_RDWR))
    }
}
