// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import SessionCore
import Synchronization
import TestSupport
import Testing

@testable import SessionManager

/// A disk that is slower than the network.
struct SlowSinkTests {
    /// Takes 16 KiB in ten milliseconds, and no more than so many bytes in all.
    private final class Mud: ContentSink {
        static let limit = 4 << 20
        private var taken = 0
        private(set) var isFull = false

        func begin(length: Int64?) {}

        func consume(_ bytes: UnsafeRawBufferPointer) throws(SessionError) -> SinkAnswer {
            taken += bytes.count
            isFull = taken > Self.limit
            if isFull { throw SessionError(.cannotWriteToFile, "full") }
            usleep(10_000)  // what makes the disk slow
            return .consumed
        }
    }

    /// Starts a transfer, and ends it a while after its head has come; on the loop's thread.
    private final class Receiver: TransferDelegate {
        let engine: TransferEngine
        /// Told whether the sink was full before.
        let end: @Sendable (Bool) -> Void
        private let mud = Mud()
        private var transfer: Transfer?

        init(_ engine: TransferEngine, _ end: @escaping @Sendable (Bool) -> Void) {
            self.engine = engine
            self.end = end
        }

        func start(_ request: SessionRequest) {
            let transfer = Transfer(
                Shared(request), priority: 0.5, isBulk: true, credentials: nil, engine: engine, delegate: self
            )
            self.transfer = transfer
            engine.start(transfer)
        }

        func transfer(_ transfer: Transfer, received head: SessionResponse) -> any ContentSink {
            _ = engine.reactor.schedule(at: Reactor.now &+ 200_000_000) {
                self.engine.cancel(transfer)
                self.over()
            }
            return mud
        }

        func transfer(_ transfer: Transfer, waitsForSlot: Bool) {}
        func transferReceived(_ transfer: Transfer) {}
        func transferSent(_ transfer: Transfer) {}
        func transferWaitsForBody(_ transfer: Transfer, _ reader: any BodyReader) {}
        func transferLostPath(_ transfer: Transfer, _ loss: PathLoss) {}
        func transferMayUse(_ transfer: Transfer, _ detour: Detour) -> UplinkTraits? { nil }
        func transferMayRepeat(_ transfer: Transfer) -> Bool { false }
        func transferMayMove(_ transfer: Transfer) -> Bool { false }
        func transferEnded(_ transfer: Transfer, _ end: TransferEnd) { over() }

        private func over() {
            guard transfer.take() != nil else { return }
            end(mud.isFull)
            engine.close()
        }
    }

    @Test("limits of time and cancellation are heeded also where a server is faster than the disk")
    func fairness() async throws {
        let origin = try await TestSupport.Origin.shared
        let request = try SessionRequest(origin.faultURL("/fault/endless?chunked=0"))
        let reactor = try Reactor(name: "slow-sink")
        defer { reactor.stop() }
        let isFull = try await withCheckedThrowingContinuation { continuation in
            reactor.perform {
                do throws(SessionError) {
                    var configuration = SessionConfiguration()
                    configuration.proxy = ""
                    let engine = try TransferEngine(
                        reactor: reactor, configuration: configuration, policy: .default, asks: false)
                    Receiver(engine) { continuation.resume(returning: $0) }.start(request)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
        // The timer came first, and not the end of what the sink takes.
        #expect(!isFull)
    }
}
