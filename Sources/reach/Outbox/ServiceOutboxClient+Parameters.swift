// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Outbox
import ReachabilityCore
import ServiceCore
import SessionCore

// Requests as the parameters of calls.
extension ServiceOutboxClient {
    /// The parameters of `Enqueue`, without the content.
    static func parameters(_ request: OutboxRequest) -> [String: JSONValue] {
        var parameters: [String: JSONValue] = [
            "url": .string(request.url.absoluteString), "method": .string(request.method.rawValue),
            "lane": .string(request.lane), "priority": .integer(Int64(request.priority)),
            "network": .string(request.networkCondition.rawValue),
        ]
        // Fields of one name become one field with a list (RFC 9110 §5.3).
        var fields: [String: JSONValue] = [:]
        for name in Set(request.headerFields.map(\.name)) {
            fields[name.rawName] = .string(request.headerFields[name] ?? "")
        }
        parameters["headers"] = .object(fields)
        if let key = request.idempotencyKey { parameters["idempotencyKey"] = .string(key) }
        if let timeout = request.timeout { parameters["answerTimeout"] = .number(timeout / .seconds(1)) }
        if let most = request.maximumAttempts { parameters["maximumAttempts"] = .integer(Int64(most)) }
        if let expires = request.expires {
            parameters["expiresIn"] = .number(max(0, expires.timeIntervalSinceNow))
        }
        if let name = request.replaces { parameters["replaces"] = .string(name) }
        if request.unique == .keep { parameters["keep"] = true }
        if !request.tags.isEmpty { parameters["tags"] = .array(request.tags.sorted().map { .string($0) }) }
        if let start = request.notBefore { parameters["notBefore"] = .string(OutboxJSON.text(start)) }
        if let window = request.window { parameters["window"] = .string(window.description) }
        if request.spread > .zero { parameters["spread"] = .number(request.spread / .seconds(1)) }
        if let every = request.every { parameters["every"] = .number(every / .seconds(1)) }
        if !request.gates.isEmpty { parameters["gates"] = .array(request.gates.sorted().map { .string($0) }) }
        if !request.secretFields.isEmpty {
            parameters["secrets"] = .array(
                request.secretFields.map { field in
                    .object([
                        "name": .string(field.name), "prefix": .string(field.prefix),
                        "source": .string(field.source), "key": .string(field.key),
                    ])
                })
        }
        return parameters
    }

    /// The parameters of `EnqueueFetch` instead of those of `Enqueue`.
    static func add(_ download: OutboxDownload, to parameters: inout [String: JSONValue]) {
        parameters["method"] = nil
        parameters["file"] = .string(download.path)
        parameters["mode"] = .string(String(download.mode, radix: 8))
        if let sha256 = download.sha256 { parameters["sha256"] = .string(sha256) }
        if !download.mirrors.isEmpty {
            parameters["mirrors"] = .array(download.mirrors.map { .string($0.absoluteString) })
        }
    }
}
