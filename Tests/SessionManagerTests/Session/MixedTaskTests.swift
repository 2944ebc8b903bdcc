// SPDX-License-Identifier: Apache-2.0

import CTestSupport
import FoundationEssentials
import Glibc
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import Synchronization
import TestSupport
import Testing

/// Many tasks of every fate at once.
///
/// `REACH_MIXED_TASKS` sets how many, where nothing else runs in the process; a thousand otherwise. With it,
/// descriptors and memory of the whole process are compared as well. `Tests/Sanitizers/run` does that with
/// ten thousand; without a sanitizer:
///
///     REACH_MIXED_TASKS=10000 swift test --filter MixedTaskTests
struct MixedTaskTests {
    private enum Fate: Int, CaseIterable {
        case succeeds, notFound, refused, reset, stalls, cancelledAtOnce, cancelledLater, suspended,
            redirected, uploads
    }

    /// So many bytes may stay of a task, for what libraries keep: less than any record of one has.
    private static let remains = 48

    @Test("AF-158 tasks of every fate: each completes exactly once, and nothing of them stays")
    func mixed() async throws {
        let wanted = getenv("REACH_MIXED_TASKS").flatMap { Int(String(cString: $0)) }
        let count = wanted ?? 1000
        // One of its own: what is connected to it is this test's.
        let origin = try await TestSupport.Origin()
        guard wanted != nil else { return try await pass(count, origin) }
        // What is made once is there after the first.
        try await pass(count, origin)
        let before = Footprint()
        try await pass(count, origin)
        let limit = before.bytes + count * Self.remains
        await settle {
            let now = Footprint()
            return now.descriptors <= before.descriptors && now.bytes <= limit
        }
        let after = Footprint()
        print("\(count) tasks: before \(before), after \(after)")
        #expect(after.descriptors <= before.descriptors)
        #expect(after.bytes <= limit)
    }

    /// Runs tasks, and returns when nothing of them is there any more.
    private func pass(_ count: Int, _ origin: TestSupport.Origin) async throws {
        let (completions, tasks) = try await run(count, origin)
        #expect(completions == Array(repeating: 1, count: count))
        await settle { Footprint.sockets(to: origin) == 0 && tasks.allSatisfy { $0.task == nil } }
        #expect(Footprint.sockets(to: origin) == 0)
        #expect(tasks.count { $0.task != nil } == 0)
    }

    /// Waits until something holds that other threads bring about; at most half a minute.
    ///
    /// Asks every 5 ms, since no event tells of it: a closed descriptor, memory that malloc(3) has back, and
    /// the end of an object are reported by nothing.
    private func settle(_ condition: () -> Bool) async {
        let limit = ContinuousClock.now + .seconds(30)
        while !condition(), ContinuousClock.now < limit { try? await Task.sleep(for: .milliseconds(5)) }
    }

    private struct Weak: Sendable {
        weak let task: SessionTask?
    }

    private func run(_ count: Int, _ origin: TestSupport.Origin) async throws -> ([Int], [Weak]) {
        let lab = try await Lab(beside: origin) { $0.maximumConnectionsPerHost = 32 }
        var tasks: [Weak] = []
        let completions = Mutex(Array(repeating: 0, count: count))
        let group = CompletionGroup()
        for number in 0..<count {
            let fate = Fate.allCases[number % Fate.allCases.count]
            var options = TaskOptions()
            options.completionGroup = group
            let task = try lab.manager.dataTask(with: request(lab, fate), options: options) { _, _, _ in
                completions.withLock { $0[number] += 1 }
            }
            tasks.append(Weak(task: task))
            start(task, fate)
            // Not all at once, so that tasks are cancelled and suspended at every point of their way.
            if number % 64 == 63 { await Task.yield() }
        }
        await group.wait()
        #expect(lab.manager.tasks.isEmpty)
        return (completions.withLock { $0 }, tasks)
    }

    private func request(_ lab: Lab, _ fate: Fate) throws -> SessionRequest {
        var request: SessionRequest
        switch fate {
        case .succeeds, .cancelledAtOnce, .cancelledLater: request = try lab.request("/bytes/2000")
        case .suspended: request = try lab.request("/bytes/100000")
        case .notFound: request = try lab.request("/status/404")
        case .refused: request = try lab.request("/", at: .refused)
        case .reset: request = try lab.request("/", at: .reset)
        case .stalls: request = try lab.request("/", at: .silent)
        case .redirected: request = try lab.request("/redirect/2")
        case .uploads: request = try lab.request("/upload", .post, body: .data(Data(count: 5000)))
        }
        if fate == .stalls { request.options.timeoutInterval = .milliseconds(100) }
        return request
    }

    private func start(_ task: SessionTask, _ fate: Fate) {
        if fate == .cancelledAtOnce, task.identifier % 2 == 0 { task.cancel() }
        task.resume()
        switch fate {
        case .cancelledAtOnce: task.cancel()
        case .cancelledLater: Task.detached { task.cancel() }
        case .suspended:
            task.suspend()
            Task.detached {
                task.resume()
                task.suspend()
                task.resume()
            }
        default: break
        }
    }
}

/// What a process holds.
private struct Footprint: CustomStringConvertible {
    let descriptors: Int
    /// Bytes that were taken from malloc(3) and not given back.
    let bytes: Int

    init() {
        descriptors = Self.numbers.count
        bytes = ctest_allocated_bytes()
    }

    var description: String { "\(descriptors) descriptors, \(bytes >> 10) KiB" }

    private static var numbers: [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { Int32($0) }
    }

    /// How many sockets of this process are connected, or connecting, to an origin.
    static func sockets(to origin: TestSupport.Origin) -> Int {
        let ports = Set(OriginListener.allCases.map { UInt16(origin.port($0)) })
        return numbers.count { number in
            var address = sockaddr_in6()
            var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
            let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(number, $0, &size) }
                    == 0
            }
            // The port lies at the same place for both families.
            return isConnected && ports.contains(UInt16(bigEndian: address.sin6_port))
        }
    }
}
