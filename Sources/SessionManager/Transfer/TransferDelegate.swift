// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// Receives what a transfer reports, on the loop's thread.
///
/// What is called inside libcurl must not start, end or pause transfers there.
protocol TransferDelegate: AnyObject {
    /// The head has come; the sink gets the content. Called inside libcurl.
    func transfer(
        _ transfer: Transfer, received head: SessionResponse
    ) throws(SessionError) -> any ContentSink
    /// More content has come. Called inside libcurl.
    func transferReceived(_ transfer: Transfer)
    /// More of the body has gone. Called inside libcurl.
    func transferSent(_ transfer: Transfer)
    /// The body's source has nothing yet; to be resumed by ``TransferEngine/resume(_:)``. Called inside
    /// libcurl.
    func transferWaitsForBody(_ transfer: Transfer, _ reader: any BodyReader)
    /// It waits until its host has room for a connection, or does not wait any more.
    func transfer(_ transfer: Transfer, waitsForSlot: Bool)
    /// Its connection is dead, or it waits for one over a path that is.
    func transferLostPath(_ transfer: Transfer, _ loss: PathLoss)
    /// Whether its request may be carried out twice.
    func transferMayRepeat(_ transfer: Transfer) -> Bool
    /// Whether it can continue over another connection.
    func transferMayMove(_ transfer: Transfer) -> Bool
    /// What the uplink costs over which it may go where its own line is dead; nil where it may not.
    func transferMayUse(_ transfer: Transfer, _ detour: Detour) -> UplinkTraits?
    /// It is over.
    func transferEnded(_ transfer: Transfer, _ end: TransferEnd)
}

/// Why a transfer has to leave its connection, and what works instead.
struct PathLoss {
    var sentence: String
    /// The way that works, where the line behind a link is dead.
    var detour: Detour?
    /// Whether no way works: it waits until the internet is found.
    var needsInternet = false
}

/// How a transfer ended.
struct TransferEnd {
    /// Nil where the response is complete.
    var error: SessionError?
    /// How long the steps took and what was moved.
    var metrics: Shared<TransferMetrics>
}
