// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// What a call asks of the outbox.
package enum OutboxCall: Sendable, Equatable {
    /// A request to be sent.
    package struct Draft: Sendable, Equatable {
        package var url: String
        package var method: String?
        package var headers: [String: String]
        package var body: [UInt8]
        package var lane: String?
        package var idempotencyKey: String?
        package var expiresIn: Duration?
    }

    case enqueue(Draft)
    case list(lane: String?, limit: Int)
    case retry(id: String)
    case remove(id: String)

    /// Nil where it is none of these methods.
    init?(_ method: Substring, _ parameters: inout VarlinkParameters) throws(VarlinkRefusal) {
        switch method {
        case "Enqueue": self = .enqueue(try Self.draft(&parameters))
        case "ListOutbox":
            self = .list(
                lane: try parameters.string("lane"),
                limit: try parameters.count("limit", in: 1...10_000) ?? 100)
        case "RetryOutbox": self = .retry(id: try parameters.required("id"))
        case "RemoveOutbox": self = .remove(id: try parameters.required("id"))
        default: return nil
        }
    }

    private static func draft(_ parameters: inout VarlinkParameters) throws(VarlinkRefusal) -> Draft {
        var body: [UInt8] = []
        if let text = try parameters.string("body") { body = Array(text.utf8) }
        if let text = try parameters.string("bodyBase64") {
            guard body.isEmpty, let data = Data(base64Encoded: text) else {
                throw VarlinkRefusal(.invalidParameter("bodyBase64"))
            }
            body = Array(data)
        }
        return Draft(
            url: try parameters.required("url"), method: try parameters.string("method"),
            headers: try parameters.strings("headers"), body: body, lane: try parameters.string("lane"),
            idempotencyKey: try parameters.string("idempotencyKey"),
            expiresIn: try parameters.seconds("expiresIn"))
    }
}
