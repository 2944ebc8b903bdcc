// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Outbox
import ReachabilityCore
import ServiceCore
import SessionCore

extension OutboxRequest {
    /// Converts a call of `Enqueue`.
    ///
    /// - Throws: the answer that names the first invalid parameter.
    init(_ draft: OutboxCall.Draft) throws(VarlinkRefusal) {
        let fields = try Self.fields(draft.headers)
        guard let method = HTTPRequest.Method(draft.method ?? "POST") else {
            throw VarlinkRefusal(.invalidParameter("method"))
        }
        let body: Body? = draft.body.isEmpty ? nil : .data(Data(draft.body))
        do throws(SessionError) {
            try self.init(draft.url, method: method, headerFields: fields, body: body)
        } catch {
            throw VarlinkRefusal(.invalidParameter("url"))
        }
        if let lane = draft.lane { self.lane = lane }
        idempotencyKey = draft.idempotencyKey
        priority = draft.priority
        timeout = draft.answerTimeout
        maximumAttempts = draft.maximumAttempts
        networkCondition = draft.network ?? .any
        secretFields = draft.secrets.map {
            SecretField(name: $0.name, prefix: $0.prefix, source: $0.source, key: $0.key)
        }
        try apply(draft.plan)
        if let file = draft.download {
            var wanted = OutboxDownload(to: file.path, sha256: file.sha256)
            for mirror in file.mirrors {
                guard let url = try? URL(spoken: mirror) else {
                    throw VarlinkRefusal(.invalidParameter("mirrors"))
                }
                wanted.mirrors.append(url)
            }
            if let mode = file.mode { wanted.mode = mode }
            if let user = file.user, let group = file.group {
                wanted.owner = FileOwner(user: user, group: group)
            }
            download = wanted
        }
        expires = draft.expiresIn.map { Date(timeIntervalSinceNow: Double($0.inNanoseconds) / 1e9) }
    }
}

extension OutboxRequest {
    private static func fields(_ headers: [String: String]) throws(VarlinkRefusal) -> HTTPFields {
        var fields = HTTPFields()
        for (text, value) in headers.sorted(by: { $0.key < $1.key }) {
            guard let name = HTTPField.Name(text) else { throw VarlinkRefusal(.invalidParameter("headers")) }
            // HTTPField would put blanks in their places (RFC 9110 §5.5).
            guard !value.utf8.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) else {
                throw VarlinkRefusal(
                    .badRequest("the value of the field “\(text)” has a line break or a NUL in it"))
            }
            fields.append(HTTPField(name: name, value: value))
        }
        return fields
    }

    private mutating func apply(_ plan: OutboxCall.Plan) throws(VarlinkRefusal) {
        replaces = plan.replaces
        unique = plan.keeps ? .keep : .replace
        tags = Set(plan.tags)
        notBefore = plan.notBefore.map { Date(timeIntervalSince1970: Double($0.nanoseconds) / 1e9) }
        spread = plan.spread ?? .zero
        every = plan.every
        gates = Set(plan.gates)
        guard let text = plan.window else { return }
        guard let window = OutboxWindow(text) else { throw VarlinkRefusal(.invalidParameter("window")) }
        self.window = window
    }
}

extension OutboxSelection {
    init(_ choice: OutboxCall.Choice) {
        self.init(lane: choice.lane, tag: choice.tag, statusCode: choice.statusCode)
    }
}

extension OutboxReply {
    /// The answer as the interface's type `Answer`.
    var json: JSONValue {
        var members: [String: JSONValue] = [
            "statusCode": .integer(Int64(statusCode)), "header": .string(header),
        ]
        if let text = String(validating: Array(body), as: UTF8.self) {
            members["body"] = .string(text)
        } else {
            members["bodyBase64"] = .string(body.base64EncodedString())
        }
        return .object(members)
    }
}

extension OutboxGate {
    /// The gate as the interface's type `Gate`.
    var json: JSONValue {
        [
            "name": .string(name), "reason": .string(reason), "since": .string(OutboxEntry.text(since)),
            "until": until.map { .string(OutboxEntry.text($0)) } ?? .null,
        ]
    }
}

extension OutboxEntry {
    /// The entry as the interface's type `Entry`.
    var json: JSONValue {
        [
            "id": .string("\(id)"), "lane": .string(lane), "method": .string(method),
            "url": .string(shownURL),
            "state": .string(state.rawValue), "created": .string(Self.text(created)),
            "expires": expires.map { .string(Self.text($0)) } ?? .null,
            "idempotencyKey": .string(idempotencyKey), "attempts": .integer(Int64(attempts)),
            "nextAttempt": nextAttempt.map { .string(Self.text($0)) } ?? .null, "bytes": .integer(bodySize),
            "lastError": failure.map { .string($0.description) } ?? .null,
            "hold": hold.map { .string($0) } ?? .null,
            "replaces": replaces.map { .string($0) } ?? .null, "tags": .array(tags.map { .string($0) }),
            "notBefore": notBefore.map { .string(Self.text($0)) } ?? .null,
            "window": window.map { .string($0.description) } ?? .null,
            "every": every.map { .number($0 / .seconds(1)) } ?? .null,
            "gates": .array(gates.map { .string($0) }),
            "successor": successor.map { .string("\($0)") } ?? .null,
            "file": file.map { .string($0) } ?? .null,
        ]
    }

    static func text(_ date: Date) -> String {
        // Clamped to the range of nanoseconds, which ends in 2262.
        let seconds = min(max(date.timeIntervalSince1970, -9e9), 9e9)
        return WallTime(nanoseconds: Int64(seconds * 1e9)).text
    }
}
