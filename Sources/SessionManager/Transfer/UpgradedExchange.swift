// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import SessionCore

/// The exchange of a request that another protocol sends itself: what that protocol may know of the transfer,
/// and has to report about it; on the loop's thread.
package struct UpgradedExchange {
    private let transfer: Transfer
    private let engine: TransferEngine

    init(_ transfer: Transfer, on engine: TransferEngine) {
        self.transfer = transfer
        self.engine = engine
    }

    /// The loop of the connection.
    package var reactor: Reactor { engine.reactor }
    /// The request as it is to be sent.
    package var request: SessionRequest { transfer.request }
    /// The answer, once its head has come.
    package var response: SessionResponse? { transfer.response }
    /// Whether the user has stopped its bytes.
    package var isSuspended: Bool { transfer.isSuspended }
    /// The scheme of a server that has to be answered in several rounds of HTTP; nil for none.
    package var libraryScheme: String? {
        transfer.credentials.flatMap { $0.isProxy ? nil : "\($0.scheme)" }
    }
    /// Why ``received(head:)`` or ``received(content:)`` has refused what came.
    package var failure: SessionError? { transfer.failure }
    /// How much content the answer announces, in bytes; 0 where it has none, or only the connection ends it.
    package var announcedLength: Int64 {
        guard let response = transfer.response, transfer.hasContent(response), !transfer.heads.facts.isChunked
        else { return 0 }
        return transfer.heads.facts.length ?? 0
    }

    /// The longest head that is accepted, in bytes.
    package static var headLimit: Int { Transfer.headLimit }

    /// The request is on its way.
    package func sent() { transfer.awaitAnswer() }

    /// Bytes have come; returns when, in nanoseconds as `Reactor.now`.
    package func bytesCame() -> Int64 {
        engine.clock.update()
        transfer.recordActivity(at: engine.clock.now)
        return engine.clock.now
    }

    /// A whole head has come, without its empty line; false where it is refused.
    package func received(head: [UInt8]) -> Bool { head.withUnsafeBytes { transfer.received(head: $0) } }

    /// Content of an answer that agrees to nothing has come; false where it is refused.
    package func received(content bytes: UnsafeRawBufferPointer) -> Bool {
        transfer.received(content: bytes) == bytes.count
    }

    /// The connection lasts from now on, and takes no place among those to its host.
    package func releaseSlot() { engine.releaseSlot(of: transfer) }

    /// Ends the exchange and closes its connection; an error gets its URL and answer.
    package func end(_ error: SessionError?) {
        engine.end(transfer, error?.with(failingURL: request.url, response: response))
    }
}
