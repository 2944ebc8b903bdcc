// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import Storage
import TestSupport
import Testing

@testable import Outbox

@Suite struct DiskReserveTests {
    private let folder: ScratchFolder
    private var reserve: DiskReserve { DiskReserve(path: folder("outbox.reserve")) }

    init() throws { folder = try ScratchFolder("reach-reserve") }

    private func size(_ path: String? = nil) -> Int {
        var status = stat()
        return stat(path ?? reserve.path, &status) == 0 ? Int(status.st_blocks) * 512 : 0
    }

    @Test("It takes its room, gives it up, and takes it again")
    func again() throws {
        reserve.release()
        #expect(folder.names == [])
        for _ in 0..<2 {
            try reserve.ensure()
            #expect(size() >= DiskReserve.size)
            reserve.release()
            #expect(size() == 0)
        }
    }

    @Test("What an interrupted process has left of it is made whole")
    func part() throws {
        try Data(count: 4096).write(to: URL(filePath: reserve.path))
        try reserve.ensure()
        #expect(size() >= DiskReserve.size)
    }

    @Test("Who meets the full disk while another gives it up waits until the space is free")
    func waits() async throws {
        try reserve.ensure()
        let other = try LockFile(reserve.path)
        other.lockExclusive()
        let reactor = try Reactor(name: "reserve")
        defer { withExtendedLifetime(reactor) {} }
        let returned = EventLog<Bool>()
        reactor.perform { [reserve] in
            reserve.release()
            returned.append(true)
        }
        // The kernel shows the threads that wait for a lock, without an event, so this polls.
        while returned.elements.isEmpty, !isWaitedFor() { await Task.yield() }
        #expect(returned.elements.isEmpty)
        other.unlock()
        await returned.wait(forCount: 1)
        #expect(size() == 0)
    }

    @Test(
        "OBX-138 What a full disk has used up is filled again once the delivery is idle",
        arguments: [false, true])
    func restored(wasUsedUp: Bool) async throws {
        let lab = try OutboxLab()
        let outbox = try await lab.open()
        let reserve = OutboxPaths(folder: lab.path).reserve
        if wasUsedUp {
            let receipt = try await outbox.enqueue(OutboxRequest(to: "http://127.0.0.1:1/x"))
            try await outbox.remove([receipt.id])
            reserve.release()
            #expect(size(reserve.path) == 0)
        }
        try await outbox.startDelivery(with: OutboxLab.manager())
        await outbox.close()
        // An outbox that never had a request has none.
        #expect(size(reserve.path) >= (wasUsedUp ? DiskReserve.size : 0))
        #expect((DatabaseFile.size(reserve.path) != nil) == wasUsedUp)
    }

    /// Whether a thread waits for its lock (proc_locks(5): a line with an arrow).
    private func isWaitedFor() -> Bool {
        var status = stat()
        guard stat(reserve.path, &status) == 0 else { return false }
        let locks = (try? String(contentsOfFile: "/proc/locks", encoding: .utf8)) ?? ""
        return locks.split(separator: "\n").contains {
            $0.contains("-> FLOCK") && $0.contains(":\(status.st_ino) ")
        }
    }
}
