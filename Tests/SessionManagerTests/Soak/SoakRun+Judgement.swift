// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore
import SessionManager
import TestSupport

// Whether each transfer ended as it has to, and the server says the same.
extension SoakRun {
    func judge(_ results: [(SoakTransfer, Result?)]) {
        let lines = network.lines.elements.map { $0.split(separator: " ") }
        for (transfer, result) in results {
            let own = lines.filter { $0.count > 1 && $0[1] == "\(transfer.key)" }
            let carried = own.filter { $0[0] == "carried" }
            var wrong: [String] = []
            if let result {
                if result.error != nil { failed += 1 }
                wrong = judge(transfer, result, carried: carried.count)
                if carried.contains(where: { $0.last == "0" }) {
                    wrong.append("the server has got something else")
                }
                let count = completed.elements.count { $0 == transfer.key }
                if count != 1 { wrong.append("completed \(count) times") }
            } else {
                wrong.append("has not ended")
            }
            guard !wrong.isEmpty else { continue }
            let outcome =
                result.map { "\($0.error.map { "\($0)" } ?? "no error"), status \($0.status ?? 0)" } ?? ""
            let heard = own.map { $0.joined(separator: " ") }
            let done = steps.elements.filter { $0.key == transfer.key }.map(\.step)
            let proxied = SoakProxy.lines(about: transfer.key, network.folder)
            for sentence in wrong {
                faults.append(
                    "\(sentence): \(transfer); \(outcome); the server: \(heard); the client: \(done); the proxy: \(proxied)"
                )
            }
        }
    }

    /// In a lane each begins when the one before it has ended, so what the server has carried out of it
    /// follows in their order.
    func judgeLanes(_ results: [(SoakTransfer, Result?)]) {
        let lines = network.lines.elements
        var last: [String: (key: Int, index: Int)] = [:]
        for (transfer, result) in results.sorted(by: { $0.0.key < $1.0.key }) {
            guard let lane = transfer.lane, transfer.isUnique, result?.error == nil, result?.status == 200,
                let index = lines.firstIndex(where: { $0.hasPrefix("carried \(transfer.key) ") })
            else { continue }
            if let last = last[lane], last.index > index {
                faults.append("\(transfer.key) of \(lane) was carried out before \(last.key)")
            }
            last[lane] = (transfer.key, index)
        }
    }

    private func judge(_ transfer: SoakTransfer, _ result: Result, carried: Int) -> [String] {
        var wrong: [String] = []
        switch transfer.kind {
        case .download, .data:
            if result.error != nil {
                wrong.append("failed")
            } else if let difference = difference(transfer, result.content ?? [], isWhole: true) {
                wrong.append(difference)
            }
        case .stream:
            // What came is right, however far it came. A refusal is content like any other to a reader.
            let isRefusal = result.status.map { $0 >= 500 } ?? false
            if !isRefusal,
                let difference = difference(transfer, result.content ?? [], isWhole: result.error == nil)
            {
                wrong.append(difference)
            }
            if result.content == nil, result.error == nil { wrong.append("has no content") }
        case .put, .streamedPut, .idempotentPost:
            if result.error != nil || result.status != 200 {
                wrong.append("failed")
            } else if carried == 0 {
                wrong.append("was not carried out")
            }
        case .post, .livePost:
            if carried > 1 { wrong.append("was carried out \(carried) times") }
            // The proxy's word for a server that did not answer it: it may have carried out the request.
            let isUnknown = transfer.way == .multiplexed && result.status == 502
            guard let error = result.error else {
                if isUnknown { unknown += carried }
                if !isUnknown, carried != (result.status == 200 ? 1 : 0) {
                    wrong.append("was carried out \(carried) times")
                }
                break
            }
            if carried == 1 { unknown += 1 }
            let isBefore: [SessionError.Code] = [
                .notConnectedToInternet, .cannotConnectToHost, .cannotFindHost, .requestBodyStreamExhausted,
            ]
            if carried > 0, isBefore.contains(error.code) {
                wrong.append("was carried out, and is said not to have been sent")
            }
        }
        return wrong
    }

    private func difference(_ transfer: SoakTransfer, _ content: [UInt8], isWhole: Bool) -> String? {
        let wanted = transfer.content
        let same = zip(wanted, content).prefix { $0 == $1 }.count
        if same == content.count, same == wanted.count || !isWhole { return nil }
        let there = content[same...].prefix(8).map { String($0, radix: 16) }
        return "\(content.count) bytes of \(wanted.count), different from byte \(same) on: \(there)"
    }
}

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
        // Other threads end the last of it, of which no event tells: asked every 20 ms for half a minute.
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
