// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import SessionManager

/// The session manager and its queue, paired with the network: what the part failover does to them.
struct Pairing {
    /// Many downloads at once, over as few connections as the protocol allows.
    static func streams(_ url: String, _ count: Int, folder: String, authority: String) async throws -> Bool {
        var policy = SecurityPolicy.default
        policy.trustRoots = .only(.file(authority))
        var configuration = SessionConfiguration()
        // All at once; the server speaks HTTP/2, so that one connection is enough for them.
        configuration.maximumConnectionsPerHost = count
        let manager = URLSessionManager(configuration: configuration, securityPolicy: policy)
        let request = try SessionRequest(url)
        return await withTaskGroup(of: Bool.self) { group in
            for number in 0..<count {
                let destination = DownloadDestination("\(folder)/\(number)", replacesExisting: true)
                group.addTask { (try? await manager.download(request, to: destination)) != nil }
            }
            return await group.allSatisfy { $0 }
        }
    }

    /// Queues requests without a network, prints their memory, and waits until all have been answered.
    static func queue(_ url: String, _ count: Int) async throws -> Bool {
        let monitor = ReachabilityManager.shared
        monitor.startMonitoring()
        for await update in monitor.pathUpdates where update.status == .unreachable { break }
        let manager = URLSessionManager(responseSerializer: DataResponseSerializer())
        let events = manager.events
        // What every manager and every first task needs is none of theirs.
        let first = try manager.dataTask(with: SessionRequest(url + "?first"))
        first.resume()
        while manager.queue.counts.waitingForNetwork < 1 { try await Task.sleep(for: .milliseconds(5)) }
        let before = residentBytes
        let tasks = try (0..<count).map { try manager.dataTask(with: SessionRequest("\(url)?\($0)")) }
        for task in tasks { task.resume() }
        while manager.queue.counts.waitingForNetwork < count + 1 {
            try await Task.sleep(for: .milliseconds(5))
        }
        print("queued bytes=\((residentBytes - before) / count)")
        fflush(nil)

        var released: [Int] = []
        for await event in events {
            if case .released(let task) = event { released.append(task.identifier) }
            if released.count == count + 1 { break }
        }
        var good = 0
        for task in tasks where await task.outcome().error == nil { good += 1 }
        let isOrdered = released == ([first] + tasks).map(\.identifier)
        print("ok=\(good) failed=\(count - good) ordered=\(isOrdered ? 1 : 0)")
        return good == count && isOrdered
    }

    private static var residentBytes: Int {
        let words = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        return (words.flatMap { Int($0[1]) } ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }
}
