// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
package import ReachabilityCore
package import SessionCore

/// A call about the outbox.
package enum OutboxCall: Sendable, Equatable {
    /// A request to be stored.
    package struct Draft: Sendable, Equatable {
        package var url: String
        package var method: String?
        package var headers: [String: String]
        package var body: [UInt8]
        package var lane: String?
        package var idempotencyKey: String?
        package var expiresIn: Duration?
        package var priority = 0
        package var network: NetworkCondition?
        package var secrets: [Secret] = []
        package var answerTimeout: Duration?
        package var maximumAttempts: Int?
        /// The name of a content that was uploaded before, in pieces.
        package var content: String?
        package var plan = Plan()
        /// The file that is fetched; nil for other requests.
        package var download: Download?
    }

    /// The file of a request that is fetched.
    package struct Download: Sendable, Equatable {
        package var path: String
        package var sha256: String?
        package var mirrors: [String] = []
        package var mode: UInt32?
        /// The user and the group of the caller.
        package var user: UInt32?
        package var group: UInt32?

        package init(path: String) { self.path = path }
    }

    /// A request's name, times, gates and tags.
    package struct Plan: Sendable, Equatable {
        package var replaces: String?
        package var keeps = false
        package var tags: [String] = []
        package var notBefore: WallTime?
        package var window: String?
        package var spread: Duration?
        package var every: Duration?
        package var gates: [String] = []

        package init() {}
    }

    /// Which entries are meant; all without conditions.
    package struct Choice: Sendable, Equatable {
        package var lane: String?
        package var tag: String?
        package var statusCode: Int?

        package init(lane: String? = nil, tag: String? = nil, statusCode: Int? = nil) {
            (self.lane, self.tag, self.statusCode) = (lane, tag, statusCode)
        }
    }

    /// A header field whose value is looked up when the request is sent.
    package struct Secret: Sendable, Equatable {
        package var name: String
        package var prefix: String
        package var source: String
        package var key: String
    }

    case enqueue(Draft)
    case list(Choice, limit: Int)
    case retry(id: String)
    case remove(id: String)
    case retryAll(Choice)
    case removeAll(Choice)
    case holdGate(name: String, reason: String, time: Duration?)
    case releaseGate(name: String)
    case listGates
    case wait(id: String, timeout: Duration?)
    /// One entry, or those of a lane or with a tag.
    case monitor(id: String?, lane: String?, tag: String?)
    case pause, resume, flush, directory
    /// A piece of a content; without a name the first one.
    case addContent(String?, [UInt8])

    /// The same for a caller, who gets the file that is fetched where the service is root's.
    package func by(user: UInt32, group: UInt32) -> OutboxCall {
        guard case .enqueue(var draft) = self, draft.download != nil else { return self }
        draft.download?.user = user
        draft.download?.group = group
        return .enqueue(draft)
    }

    /// Whether the service would read secrets for the caller: files and the service's environment.
    package var readsSecrets: Bool {
        if case .enqueue(let draft) = self { !draft.secrets.isEmpty } else { false }
    }

    /// Nil for other methods.
    init?(_ method: Substring, _ parameters: inout VarlinkParameters) throws(VarlinkRefusal) {
        switch method {
        case "Enqueue": self = .enqueue(try Self.draft(&parameters))
        case "EnqueueFetch": self = .enqueue(try Self.fetch(&parameters))
        case "ListOutbox":
            self = .list(
                try Self.choice(&parameters), limit: try parameters.count("limit", in: 1...10_000) ?? 100)
        case "RetryOutbox": self = .retry(id: try parameters.required("id"))
        case "RemoveOutbox": self = .remove(id: try parameters.required("id"))
        case "RetryEntries": self = .retryAll(try Self.choice(&parameters))
        case "RemoveEntries": self = .removeAll(try Self.choice(&parameters))
        case "HoldGate":
            self = .holdGate(
                name: try parameters.required("name"), reason: try parameters.string("reason") ?? "",
                time: try parameters.seconds("for"))
        case "ReleaseGate": self = .releaseGate(name: try parameters.required("name"))
        case "ListGates": self = .listGates
        case "WaitOutbox":
            self = .wait(id: try parameters.required("id"), timeout: try parameters.seconds("timeout"))
        case "MonitorOutbox":
            let (id, lane, tag) = (
                try parameters.string("id"), try parameters.string("lane"), try parameters.string("tag")
            )
            if id != nil, lane ?? tag != nil { throw VarlinkRefusal(.invalidParameter("id")) }
            self = .monitor(id: id, lane: lane, tag: tag)
        case "PauseOutbox": self = .pause
        case "ResumeOutbox": self = .resume
        case "FlushOutbox": self = .flush
        case "GetOutboxDirectory": self = .directory
        case "AddContent":
            guard let data = Data(base64Encoded: try parameters.required("bodyBase64")) else {
                throw VarlinkRefusal(.invalidParameter("bodyBase64"))
            }
            self = .addContent(try parameters.string("content"), Array(data))
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
        let content = try parameters.string("content")
        if content != nil, !body.isEmpty { throw VarlinkRefusal(.invalidParameter("content")) }
        return Draft(
            url: try parameters.required("url"), method: try parameters.string("method"),
            headers: try parameters.strings("headers"), body: body, lane: try parameters.string("lane"),
            idempotencyKey: try parameters.string("idempotencyKey"),
            expiresIn: try parameters.seconds("expiresIn"),
            priority: try parameters.count("priority", in: -1_000_000...1_000_000) ?? 0,
            network: try network(&parameters), secrets: try secrets(&parameters),
            answerTimeout: try parameters.seconds("answerTimeout"),
            maximumAttempts: try parameters.count("maximumAttempts", in: 1...1_000_000), content: content,
            plan: try plan(&parameters))
    }

    private static func fetch(_ parameters: inout VarlinkParameters) throws(VarlinkRefusal) -> Draft {
        var download = Download(path: try parameters.required("file"))
        download.sha256 = try parameters.string("sha256")
        download.mirrors = try parameters.texts("mirrors", upTo: 16)
        if let text = try parameters.string("mode") {
            guard let mode = UInt32(text, radix: 8) else { throw VarlinkRefusal(.invalidParameter("mode")) }
            download.mode = mode
        }
        return Draft(
            url: try parameters.required("url"), method: "GET",
            headers: try parameters.strings("headers"), body: [],
            lane: try parameters.string("lane") ?? "downloads",
            idempotencyKey: try parameters.string("idempotencyKey"),
            expiresIn: try parameters.seconds("expiresIn"),
            priority: try parameters.count("priority", in: -1_000_000...1_000_000) ?? 0,
            network: try network(&parameters), secrets: try secrets(&parameters),
            answerTimeout: try parameters.seconds("answerTimeout"),
            maximumAttempts: try parameters.count("maximumAttempts", in: 1...1_000_000),
            plan: try plan(&parameters), download: download)
    }

    private static func plan(_ parameters: inout VarlinkParameters) throws(VarlinkRefusal) -> Plan {
        var plan = Plan()
        plan.replaces = try parameters.string("replaces")
        plan.keeps = try parameters.flag("keep") ?? false
        plan.tags = try parameters.texts("tags", upTo: 32)
        plan.notBefore = try parameters.time("notBefore")
        plan.window = try parameters.string("window")
        plan.spread = try parameters.seconds("spread")
        plan.every = try parameters.seconds("every")
        plan.gates = try parameters.texts("gates", upTo: 16)
        return plan
    }

    private static func choice(_ parameters: inout VarlinkParameters) throws(VarlinkRefusal) -> Choice {
        Choice(
            lane: try parameters.string("lane"), tag: try parameters.string("tag"),
            statusCode: try parameters.count("statusCode", in: 100...999))
    }

    private static func network(_ parameters: inout VarlinkParameters) throws(VarlinkRefusal)
        -> NetworkCondition?
    {
        guard let word = try parameters.string("network") else { return nil }
        guard let condition = NetworkCondition(rawValue: word) else {
            throw VarlinkRefusal(.invalidParameter("network"))
        }
        return condition
    }

    private static func secrets(_ parameters: inout VarlinkParameters) throws(VarlinkRefusal) -> [Secret] {
        var secrets: [Secret] = []
        for object in try parameters.objects("secrets") {
            var members = VarlinkParameters(object)
            secrets.append(
                Secret(
                    name: try members.required("name"), prefix: try members.string("prefix") ?? "",
                    source: try members.required("source"), key: try members.required("key")))
            try members.finish()
        }
        return secrets
    }
}

extension OutboxCall.Draft {
    /// A request with nothing but its URL.
    package init(_ url: String) {
        self.init(
            url: url, method: nil, headers: [:], body: [], lane: nil, idempotencyKey: nil, expiresIn: nil)
    }
}
