// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// An entry that may be sent, with its content.
struct PendingDelivery: Sendable {
    let id: OutboxID
    let lane: String
    let host: String
    let condition: NetworkCondition
    let priority: Int
    let method: String
    let url: String
    var key: String
    var attempts: Int
    var header: String
    let secrets: [SecretField]
    var body: [UInt8]?
    var file: String?
    let origin: String
    /// Of the content, in bytes.
    var size: Int64
    /// How long the server may be silent, in milliseconds; nil for the outbox's timeout.
    let timeout: Int64?
    /// The number of attempts that were sent completely and not answered in time.
    let unanswered: Int
    /// Its times and gates; nil without any.
    let plan: OutboxPlan?
    /// The file that is fetched; nil for other requests.
    let download: StoredDownload?
    /// The entries that are sent with it; nil for it alone, as it is.
    var batch: OutboxBatch?
}

/// What an attempt to deliver an entry, or a batch, has come to.
struct DeliveryOutcome: Sendable {
    var id: OutboxID
    var lane: String
    var origin = ""
    var verdict: DeliveryVerdict
    var reply: OutboxReply?
    /// The entries that were sent as one; nil for one alone.
    var batch: OutboxBatch?
    /// What the answer says of each entry of a batch; nil if it does not.
    var items: [BatchItem]?
    /// Whether the server may have received the request before.
    var isRepeated = false
    var retryAfter: Duration?
    /// Whether the request was sent completely and not answered in time.
    var isUnanswered = false
    /// This machine's address in the exchange; nil where no connection came about.
    var local: String?
    /// What an attempt to fetch a file has brought; nil for other requests.
    var download: DownloadProgress?
    /// The bytes of header fields and content that were moved, both ways.
    var traffic: Int64 = 0
    /// Whether the path that carried it was expensive.
    var wasExpensive = false
}
