// SPDX-License-Identifier: Apache-2.0

import EventLoop
public import FoundationEssentials
import Storage

// Gates: entries that name one wait while it is held, in every process and after a restart.
extension RequestOutbox {
    /// Holds a gate; one that is held gets the new reason and end.
    ///
    /// What is on its way continues. The end is by the device's clock and moves with one that is set, unless
    /// it is over a year away.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 bytes without control characters.
    ///   - reason: why, in words for lists; at most 200 bytes.
    ///   - end: when it is released by itself; nil for never.
    /// - Throws: ``OutboxError``, for instance where 256 gates are held.
    public func hold(gate name: String, reason: String = "", until end: Date? = nil) async throws {
        try GivenName.check(name, "a gate", upTo: 64)
        if !reason.isEmpty { try GivenName.check(reason, "a reason") }
        let until = end.map { WallClock.milliseconds($0) }
        try await on { (engine) throws(OutboxError) in
            let clock = ClockReading.now
            let gate = try engine.file.add { (database) throws(StorageError) -> OutboxGate? in
                let tables = OutboxTables(database)
                try tables.follow(clock)
                let isHeld = try tables.hold(gate: name, reason: reason, until: until, clock: clock)
                return isHeld ? try tables.gates(now: clock.wall).first { $0.name == name } : nil
            }
            if let gate {
                engine.broadcaster.publish(.gateHeld(gate))
            } else if until.map({ $0 > clock.wall }) ?? true {
                throw OutboxError(
                    .full, "\(OutboxTables.mostGates) gates are held already", advice: "release one first")
            }
            engine.recall()
            engine.startReady()
        }
    }

    /// Releases a gate.
    ///
    /// - Returns: whether it was held.
    @discardableResult
    public func release(gate name: String) async throws -> Bool {
        try await on { (engine) throws(OutboxError) in
            let wasHeld = try engine.file.write { (database) throws(StorageError) in
                try OutboxTables(database).release(gate: name, now: WallClock.now)
            }
            if wasHeld { engine.broadcaster.publish(.gateReleased(name)) }
            engine.startReady()
            return wasHeld
        }
    }

    /// The gates that are held, by name.
    public func gates() async throws -> [OutboxGate] {
        try await read { (tables) throws(StorageError) in try tables.gates(now: WallClock.now) }
    }
}
