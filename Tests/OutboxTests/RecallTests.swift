// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachTesting
import SessionCore
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Requests that wait in the manager's queue for a network and must not be sent any more.
@Suite struct RecallTests {
    private let lab: OutboxLab
    private let manager: URLSessionManager
    private let reported = EventLog<String>()
    private let reader: Task<Void, Never>

    init() throws {
        lab = try OutboxLab()
        manager = OutboxLab.manager(following: .provider(ScriptedNetwork(.unreachable)))
        let (events, reported) = (manager.events, reported)
        reader = Task {
            for await event in events {
                switch event {
                case .held: reported.append("held")
                case .completed(let task, _):
                    reported.append(task.error?.code == .cancelled ? "taken back" : "?")
                default: break
                }
            }
        }
    }

    /// A request that waits in the queue; loopback is never held, so it goes to another network.
    private func held(_ outbox: RequestOutbox, gates: Set<String> = [], window: OutboxWindow? = nil)
        async throws -> OutboxID
    {
        var request = try OutboxRequest(to: "http://192.0.2.1/")
        (request.gates, request.window) = (gates, window)
        let receipt = try await outbox.enqueue(request)
        try await outbox.startDelivery(with: manager)
        #expect(await reported.wait(forCount: 1) == ["held"])
        return receipt.id
    }

    @Test(
        "A pause takes it back, whichever process it comes from; it leaves again with the end of the pause",
        arguments: [true, false])
    func pause(isOwn: Bool) async throws {
        let outbox = try await lab.open()
        let other = try await isOwn ? outbox : lab.open()
        let id = try await held(outbox)
        try await other.pause()
        #expect(await reported.wait(forCount: 2) == ["held", "taken back"])
        #expect(try await outbox.entry(id)?.attempts == 0)
        try await other.resume()
        #expect(await reported.wait(forCount: 3) == ["held", "taken back", "held"])
        reader.cancel()
        await outbox.close()
    }

    @Test("FLD-021 A portal recalls what goes without TLS; it leaves again when the probe says otherwise")
    func portal() async throws {
        let outbox = try await lab.open()
        try await outbox.follow(.full)
        let id = try await held(outbox)
        try await outbox.follow(.portal)
        #expect(await reported.wait(forCount: 2) == ["held", "taken back"])
        #expect(try await outbox.entry(id)?.attempts == 0)
        try await outbox.follow(.full)
        #expect(await reported.wait(forCount: 3) == ["held", "taken back", "held"])
        reader.cancel()
        await outbox.close()
    }

    @Test("Removed, it is recalled, whichever process removes it", arguments: [true, false])
    func removal(isOwn: Bool) async throws {
        let outbox = try await lab.open()
        let other = try await isOwn ? outbox : lab.open()
        let id = try await held(outbox)
        #expect(try await other.remove([id]) == [id])
        #expect(await reported.wait(forCount: 2) == ["held", "taken back"])
        #expect(try await outbox.counts().waiting == 0)
        reader.cancel()
        await outbox.close()
    }

    @Test(
        "OBX-042 Its gate is held, and it is taken back, whichever process holds it",
        arguments: [true, false])
    func gate(isOwn: Bool) async throws {
        let outbox = try await lab.open()
        let other = try await isOwn ? outbox : lab.open()
        let id = try await held(outbox, gates: ["g"])
        try await other.hold(gate: "g")
        #expect(await reported.wait(forCount: 2) == ["held", "taken back"])
        #expect(try await outbox.entry(id)?.attempts == 0)
        try await other.release(gate: "g")
        #expect(await reported.wait(forCount: 3) == ["held", "taken back", "held"])
        reader.cancel()
        await outbox.close()
    }

    @Test("OBX-044 Its window is closed, and it is taken back")
    func window() async throws {
        let outbox = try await lab.open()
        let id = try await held(outbox, window: OutboxWindow("00:00-24:00"))
        // As if it had closed: one that opens for a minute, an hour ago.
        let minute =
            (Int(WallClock.now / 60_000 + LocalZone.offset(at: WallClock.now / 1_000) / 60) + 1_380) % 1_440
        let closed = try #require(OutboxWindow(start: minute, end: minute + 1))
        try await outbox.on { (engine) throws(OutboxError) in
            try engine.file.write { (database) throws(StorageError) in
                _ = try database.run("UPDATE plans SET window = ?", [.text(closed.description)])
            }
            engine.startReady()
        }
        #expect(await reported.wait(forCount: 2) == ["held", "taken back"])
        let entry = try #require(try await outbox.entry(id))
        #expect(
            entry.attempts == 0 && entry.hold?.hasPrefix("its window \(closed) lets it leave at 2") == true)
        reader.cancel()
        await outbox.close()
    }
}
