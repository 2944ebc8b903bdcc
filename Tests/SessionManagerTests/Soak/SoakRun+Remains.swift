// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore
import SessionManager
import TestSupport

// What stays when everything has ended: nothing.
extension SoakRun {
    /// What the namespace's loop and the kernel hold for this side.
    func holdings() async throws -> [String: Int] {
        let reactor = network.lab.near.reactor
        let held = try await network.lab.near.perform {
            [
                "timers": reactor.holdings.timers, "watches": reactor.holdings.watches,
                "hooks": reactor.holdings.hooks,
            ]
        }
        let netlink = try await network.lab.near.run("cat", "/proc/thread-self/net/netlink").split(
            separator: "\n"
        ).count
        let connections = try await network.lab.near.run("ss", "-Htnp").split(separator: "\n")
            .count { $0.contains("users:") }
        return held.merging(["netlink sockets": netlink, "connections": connections]) { one, _ in one }
    }

    func leave(_ before: [String: Int]) async throws {
        for (kind, manager) in managers {
            if !manager.tasks.isEmpty { faults.append("\(manager.tasks.count) tasks of \(kind) are left") }
            if manager.queue.counts != QueueCounts() {
                faults.append("the queue of \(kind) has \(manager.queue.counts)")
            }
            manager.invalidate()
        }
        managers = [:]
        running = []
        var left: [String] = []
        // The last of it goes on other threads: asked again for half a minute.
        let limit = ContinuousClock.now + .seconds(30)
        repeat {
            left = try await leftovers(before)
            if !left.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        } while !left.isEmpty && ContinuousClock.now < limit
        faults += left
    }

    private func leftovers(_ before: [String: Int]) async throws -> [String] {
        var left = try await holdings().compactMap { name, count in
            count > before[name] ?? 0
                ? "\(count) \(name) are left, \(before[name] ?? 0) in the beginning" : nil
        }
        let alive = tasks.count { $0.task != nil }
        if alive > 0 { left.append("\(alive) tasks are alive") }
        let files = network.folder.names.filter { !$0.hasPrefix("server.") }
        if !files.isEmpty { left.append("files are left: \(files)") }
        return left
    }
}
