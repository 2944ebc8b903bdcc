// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import ReachabilityCore
import SessionCore
import Storage

/// A validated request in the form in which it is stored, with its large content staged in a file.
struct PreparedEntry: Sendable {
    var lane: String
    var priority: Int
    var method: String
    var url: String
    var origin: Origin
    var condition: Int
    var key: String
    /// Whether the caller has chosen the key; a random key is unique.
    var hasOwnKey: Bool
    var size: Int64
    var expires: Int64?
    /// In milliseconds; 0 for ever.
    var timeout: Int64?
    var maximumAttempts: Int?
    var header: String
    var secrets: String
    /// A small content.
    var body: [UInt8]?
    /// The file of a large content.
    var file: StagedBody?
    /// Its name, times and gates; nil without any.
    var plan: OutboxPlan?
    /// Whether its first time is the one at which it is stored.
    var beginsNow = false
    var unique: OutboxRequest.Uniqueness
    /// Sorted.
    var tags: [String]
    /// The file that is fetched.
    var download: StoredDownload?

    /// The size above which contents become files: SQLite writes each byte twice, and reads a row as a whole.
    static let largestInline = 64 << 10

    init(_ request: OutboxRequest, bodies: BodyFolder, limits: OutboxLimits) throws(OutboxError) {
        let largest = limits.maximumBodySize
        let asciiURL: URL
        do { asciiURL = try request.url.withASCIIHost } catch {
            throw OutboxError(.badRequest, error.message, advice: error.advice)
        }
        // A socket of this machine may be root's own, and this process too.
        guard let origin = Origin(asciiURL), asciiURL.isWeb else {
            throw OutboxError(.badRequest, "\(request.url.textWithoutUser) is no http or https URL")
        }
        lane = request.lane
        guard !lane.isEmpty, lane.utf8.count <= 200, !lane.unicodeScalars.contains(where: { $0.value < 0x20 })
        else {
            throw OutboxError(
                .badRequest, "a lane has a name of 1 to 200 bytes without control characters",
                advice: "choose another one")
        }
        try Self.checkFraming(request)
        priority = request.priority
        method = request.method.rawValue
        url = asciiURL.absoluteString
        self.origin = origin
        timeout = request.timeout.map { max($0, .zero).milliseconds }
        maximumAttempts = request.maximumAttempts.map { max($0, 1) }
        condition = NetworkCondition.allCases.firstIndex(of: request.networkCondition) ?? 0
        expires = request.expires.map { WallClock.milliseconds($0) }
        unique = request.unique
        tags = request.tags.sorted()
        (plan, beginsNow) = try Self.plan(request)
        if let wanted = request.download {
            guard request.method == .get, request.body == nil else {
                throw OutboxError(.badRequest, "a download is asked for by GET, without content")
            }
            download = try StoredDownload(
                wanted, limits, user: bodies.paths.rights?.user ?? FileOwner.current.user)
        }
        var fields = request.headerFields
        let keyField = HTTPField.Name.idempotencyKey
        key = request.chosenKey ?? OutboxRequest.randomKey()
        hasOwnKey = request.chosenKey != nil
        fields[keyField] = nil
        // RFC 9110 §5.5, and no blanks, so that the key survives header parsing unchanged.
        guard !key.isEmpty, key.utf8.count <= 255, key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw OutboxError(
                .badRequest, "an idempotency key has 1 to 255 visible ASCII characters and no blanks")
        }
        header = Self.text(of: fields)
        secrets = try Self.lines(request.secretFields)
        switch request.body {
        case nil: size = 0
        case .data(let data):
            size = Int64(data.count)
            try Self.check(size, largest)
            if data.count > Self.largestInline {
                file = try bodies.stage(data)
            } else {
                body = Array(data)
            }
        case .file(let path):
            let staged = try bodies.stage(file: path, largest: largest)
            size = staged.size
            file = staged
        }
    }

    /// Refuses what decides about the connection and not about the request.
    private static func checkFraming(_ request: OutboxRequest) throws(OutboxError) {
        // RFC 9110 §9.3.6: it asks a proxy for a tunnel, and no server answers it otherwise.
        guard request.method != .connect else {
            throw OutboxError(.badRequest, "CONNECT asks for a tunnel and is no request that can be stored")
        }
        let names = request.headerFields.map(\.name) + request.secretFields.compactMap { .init($0.name) }
        if let name = names.first(where: { $0 == .contentLength || $0 == .transferEncoding }) {
            throw OutboxError(
                .badRequest, "the field “\(name.rawName)” follows from the content",
                advice: "leave it out; it is added when the request is sent")
        }
    }

    private static func plan(_ request: OutboxRequest) throws(OutboxError) -> (OutboxPlan?, beginsNow: Bool) {
        if let name = request.replaces { try GivenName.check(name, "what replaces another") }
        for tag in request.tags { try GivenName.check(tag, "a tag", upTo: 64) }
        for gate in request.gates { try GivenName.check(gate, "a gate", upTo: 64) }
        guard request.tags.count <= 32, request.gates.count <= 16 else {
            throw OutboxError(.badRequest, "a request has at most 32 tags and 16 gates")
        }
        let longest = Duration.seconds(366 * 86_400)
        guard (Duration.zero...longest).contains(request.spread) else {
            throw OutboxError(.badRequest, "a request is spread over at most 366 days")
        }
        if let every = request.every {
            guard (Duration.seconds(60)...longest).contains(every) else {
                throw OutboxError(.badRequest, "periodic work has a period of 1 minute to 366 days")
            }
            guard request.replaces != nil else {
                throw OutboxError(
                    .badRequest, "periodic work needs a name",
                    advice: "choose a name, which all of its requests have")
            }
        }
        if let start = request.notBefore, let end = request.expires, end <= start {
            throw OutboxError(
                .badRequest, "it would expire before it may leave",
                advice: "let it expire later, or leave earlier"
            )
        }
        let isSpread = request.spread > .zero
        let beginsNow =
            request.notBefore == nil && (request.every != nil || isSpread && request.window == nil)
        guard
            request.replaces ?? request.window?.description != nil || request.notBefore != nil || beginsNow
                || !request.gates.isEmpty
        else { return (nil, false) }
        let plan = OutboxPlan(
            name: request.replaces, planned: request.notBefore.map { WallClock.milliseconds($0) },
            delay: OutboxPlan.delay(
                spread: request.spread.milliseconds, window: request.window,
                chance: Double.random(in: 0...1)),
            window: request.window, every: request.every?.milliseconds, gates: request.gates.sorted())
        return (plan, beginsNow)
    }

    var content: ComparedContent { file.map { .file($0.link) } ?? .bytes(body ?? []) }

    private static func check(_ size: Int64, _ largest: Int64) throws(OutboxError) {
        guard size > largest else { return }
        throw OutboxError(
            .full, "the content of \(size) bytes is larger than \(largest), which the outbox takes")
    }

    private static func lines(_ secrets: [SecretField]) throws(OutboxError) -> String {
        var text = ""
        for field in secrets {
            let parts = [field.name, field.prefix, field.source, field.key]
            guard HTTPField.Name(field.name) != nil, !field.source.isEmpty, !field.key.isEmpty,
                parts.allSatisfy({ !$0.unicodeScalars.contains { $0.value < 0x20 } })
            else {
                throw OutboxError(
                    .badRequest, "the secret for the field “\(field.name)” is not written properly")
            }
            text += parts.joined(separator: "\n") + "\n"
        }
        return text
    }

    static func secrets(_ text: String) -> [SecretField] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return stride(from: 0, to: lines.count - 3, by: 4).map {
            SecretField(name: lines[$0], prefix: lines[$0 + 1], source: lines[$0 + 2], key: lines[$0 + 3])
        }
    }

    static func text(of fields: HTTPFields) -> String {
        fields.map { "\($0.name.rawName): \($0.value)\n" }.joined()
    }

    static func fields(_ header: String) -> HTTPFields {
        var fields = HTTPFields()
        for line in header.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon]))
            else { continue }
            fields.append(
                HTTPField(name: name, value: String(line[line.index(after: colon)...].drop { $0 == " " })))
        }
        return fields
    }
}

extension OutboxRequest {
    /// The key that the caller has chosen, also as a header field; nil for a random one.
    package var chosenKey: String? { idempotencyKey ?? headerFields[.idempotencyKey] }

    /// The time and 80 random bits, as in a UUID of version 7 (RFC 9562 §5.7).
    ///
    /// Keys of one time share pages of the index; random ones would each write their own.
    package static func randomKey() -> String {
        let time = UInt64(bitPattern: WallClock.now) & 0xFFFF_FFFF_FFFF
        let (high, low) = (UInt64.random(in: 0...0xFFFF), UInt64.random(in: 0...UInt64.max))
        return digits(time << 16 | high) + digits(low)
    }

    private static func digits(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}

extension HTTPField.Name {
    /// `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header).
    static let idempotencyKey = HTTPField.Name("Idempotency-Key") ?? .eTag
}
