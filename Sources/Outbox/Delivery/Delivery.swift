// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import HTTPTypes
import SessionCore
import SessionManager

/// One attempt to deliver an entry.
struct Delivery: Sendable {
    let pending: PendingDelivery
    let manager: URLSessionManager
    let configuration: OutboxConfiguration
    let paths: OutboxPaths
    /// Whether the server may have received the request before.
    let isRepeated: Bool
    /// The interface to bind to; nil for the kernel's choice.
    let uplink: String?
    /// Receives the manager's task.
    let managerTask: ManagerTask
    /// Where progress is reported.
    let reactor: Reactor
    /// Whether the path in use is expensive.
    let isExpensive: Bool
    /// Whether it waits where the path is expensive.
    let avoidsExpense: Bool

    /// Sends the request; nil if the manager was invalidated before the task was made.
    func run() async -> DeliveryOutcome? {
        var outcome = DeliveryOutcome(id: pending.id, lane: pending.lane, verdict: .untried)
        outcome.batch = pending.batch
        outcome.isRepeated = isRepeated
        outcome.wasExpensive = isExpensive
        let (request, secrets): (SessionRequest, [String])
        do throws(OutboxFailureError) { (request, secrets) = try await self.request() } catch {
            outcome.verdict = error.failure.isPassing ? .retry(error.failure) : .dead(error.failure)
            return outcome
        }
        var options = TaskOptions()
        // The other uplink has internet, which may be all that is asked for.
        options.networkCondition = uplink == nil ? pending.condition : .any
        // The idempotency key makes it so.
        options.isIdempotent = true
        options.redirectHandler = DeliveryRedirects(secrets: pending.secrets)
        if pending.size >= Self.progressSize, pending.batch == nil {
            options.uploadProgress = { [managerTask] in managerTask.onProgress($0.completedBytes, nil) }
            options.progressQueue = .onLoop(reactor)
        }
        let exchange: TaskOutcome
        do throws(SessionError) {
            let task =
                request.body == nil
                ? try manager.dataTask(with: request, options: options)
                : try manager.uploadTask(withStreamedRequest: request, options: options)
            let endObserving = managerTask.began(task)
            defer { endObserving() }
            task.resume()
            exchange = await task.outcome()
        } catch {
            if error.code == .invalidated { return nil }
            outcome.verdict = DeliveryVerdict(error: error, statusCode: nil)
            return outcome
        }
        let later = exchange.response.flatMap { RetryAfter.delay(in: $0, now: HTTPDate(Date())) }
        outcome.verdict = verdict(exchange, asksForLater: later != nil)
        outcome.isUnanswered = isUnanswered(exchange)
        outcome.local = exchange.metrics.last?.local?.address
        outcome.traffic = Self.traffic(of: exchange, request)
        if case .retry(let failure) = outcome.verdict, failure.kind == .credentials {
            await secretsRefused()
        }
        if let response = exchange.response, let status = response.statusCode {
            outcome.retryAfter = later
            if let batch = pending.batch, let data = exchange.data, exchange.error == nil {
                let shown = secrets.isEmpty ? data : Data(SecretMask.masked(Array(data), secrets))
                outcome.items = BatchAnswer.items(
                    statusCode: status, shown, count: batch.members.count)
            }
            outcome.reply = reply(status, response, exchange.data, secrets, outcome.verdict)
        }
        return outcome
    }

    /// What is stored of an answer; nil for nothing.
    ///
    /// Every delivery writes it to the disk, so less is stored of answers that accept.
    private func reply(
        _ status: Int, _ response: SessionResponse, _ content: Data?, _ secrets: [String],
        _ verdict: DeliveryVerdict
    ) -> OutboxReply? {
        var longest = Self.longestHead
        if case .delivered = verdict {
            guard configuration.limits.maximumReplySize > 0 else { return nil }
            longest = Self.longestAcceptingHead
        }
        return OutboxReply(
            statusCode: status,
            header: Self.head(SecretMask.masked(response.headerBlock, secrets), upTo: longest),
            body: body(content, secrets))
    }

    /// The beginning of an answer's content that is stored.
    private func body(_ content: Data?, _ secrets: [String]) -> Data {
        let most = max(configuration.limits.maximumReplySize, 0)
        guard !secrets.isEmpty, let content else { return (content ?? Data()).prefix(most) }
        // Before it is cut, since a part of a secret would not be found.
        return Data(SecretMask.masked(Array(content), secrets).prefix(most))
    }

    /// A server has refused the secrets.
    func secretsRefused() async {
        for secret in pending.secrets {
            await configuration.secretSources[secret.source]?.refused(named: secret.key)
        }
    }

    /// The bytes that were moved; those of the request's head are estimated.
    static func traffic(of exchange: TaskOutcome, _ request: SessionRequest) -> Int64 {
        let fields = request.headerFields.reduce(0) {
            $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 4
        }
        let head = Int64(fields + request.url.absoluteString.utf8.count + ownFields)
        return exchange.metrics.reduce(0) { sum, step in
            let isSent = step.requestStart > .zero || step.bytesSent > 0 || step.headerBytesReceived > 0
            return sum + step.bytesSent + step.bytesReceived + step.headerBytesReceived + (isSent ? head : 0)
        }
    }

    /// The bytes of the request's line and of the fields that transfers add, about.
    private static let ownFields = 120

    /// The whole lines of an answer's head that are stored.
    static func head(_ block: [UInt8], upTo longest: Int = longestHead) -> String {
        var bytes = block.filter { $0 != 13 }
        if bytes.count > longest {
            let end = bytes[..<longest].lastIndex(of: 10) ?? 0
            bytes.removeLast(bytes.count - end - 1)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static let longestHead = 8 << 10
    static let longestAcceptingHead = 1 << 10

    /// Whether the request was sent completely and the time limit ended before its answer did.
    private func isUnanswered(_ exchange: TaskOutcome) -> Bool {
        exchange.error?.code == .timedOut && isSent(exchange)
    }

    private func isSent(_ exchange: TaskOutcome) -> Bool {
        exchange.metrics.last.map { $0.requestStart > .zero && $0.bytesSent >= pending.size } ?? false
    }

    private func verdict(_ exchange: TaskOutcome, asksForLater: Bool) -> DeliveryVerdict {
        let (response, fillsSecrets) = (exchange.response, !pending.secrets.isEmpty)
        let isSecure = response.flatMap { Origin($0.url) }?.isSecure ?? false
        if let error = exchange.error {
            return DeliveryVerdict(
                error: error, statusCode: response?.statusCode, fillsSecrets: fillsSecrets,
                isSecure: isSecure, isRepeated: isRepeated, asksForLater: asksForLater,
                // What became of each entry of a batch is in the content.
                isSent: pending.batch == nil && isSent(exchange))
        }
        return DeliveryVerdict(
            statusCode: response?.statusCode ?? 0, fillsSecrets: fillsSecrets, isSecure: isSecure,
            isRepeated: isRepeated, asksForLater: asksForLater,
            location: response?.values(forHeader: "location").first)
    }

    /// The progress of smaller contents is not reported.
    private static let progressSize: Int64 = 64 << 10

    /// Answers are read up to this size at least, since an answer that is cut off closes its connection.
    private static let smallAnswer = 64 << 10
    /// What an answer may say of each entry of a batch, in bytes.
    private static let itemAnswer = 2 << 10

    /// The request, and the secrets that were filled in.
    func request() async throws(OutboxFailureError) -> (SessionRequest, [String]) {
        guard let method = HTTPRequest.Method(pending.method) else {
            throw OutboxFailureError(.unsendable, "\(pending.method) is no method")
        }
        var fields = PreparedEntry.fields(pending.header)
        var secrets: [String] = []
        for secret in pending.secrets {
            let value = try await value(of: secret)
            guard let name = HTTPField.Name(secret.name), HTTPField.isValidValue(secret.prefix + value) else {
                throw OutboxFailureError(.secret, "the secret for \(secret.name) cannot be a field's value")
            }
            fields[name] = secret.prefix + value
            secrets.append(value)
        }
        fields[.idempotencyKey] = pending.key
        if pending.batch == nil, let name = pending.file { try check(paths.body(name)) }
        let body: RequestBody? =
            pending.file.map { .file(path: paths.body($0)) } ?? pending.body.map { .data(Data($0)) }
        do throws(SessionError) {
            var request = SessionRequest(
                url: try URL(spoken: pending.url), method: method, headerFields: fields, body: body)
            request.options.timeoutInterval = AnswerPatience.limit(
                pending.timeout.map { .milliseconds($0) } ?? configuration.timeout,
                unanswered: pending.unanswered)
            request.options.timeouts.connect = AnswerPatience.connecting(request.options.timeoutInterval)
            request.options.interface = uplink
            request.options.allowsExpensiveNetwork = !avoidsExpense
            request.options.maximumUploadBytesPerSecond = configuration.rate(isExpensive: isExpensive)
            request.options.cachePolicy = .reloadIgnoringLocalCacheData
            // The status decides; only the beginning of the content is stored.
            request.options.maximumContentLength = Int64(
                max(
                    configuration.limits.maximumReplySize, Self.smallAnswer,
                    (pending.batch?.members.count ?? 0) * Self.itemAnswer))
            return (request, secrets)
        } catch {
            throw OutboxFailureError(.unsendable, error.message)
        }
    }

    /// Refuses a content that the disk has damaged: the server would take it for whole.
    private func check(_ path: String) throws(OutboxFailureError) {
        var status = stat()
        // One that is missing, or cannot be read, fails when it is opened.
        guard stat(path, &status) == 0, Int64(status.st_size) != pending.size else { return }
        throw OutboxFailureError(
            .unsendable, "the content is damaged: \(path) has \(status.st_size) of \(pending.size) bytes")
    }

    private func value(of secret: SecretField) async throws(OutboxFailureError) -> String {
        guard let source = configuration.secretSources[secret.source] else {
            throw OutboxFailureError(
                .secret,
                "no source of secrets is named “\(secret.source)”, which that for \(secret.name) needs")
        }
        do {
            return try await source.secret(named: secret.key)
        } catch {
            throw OutboxFailureError(.secret, "no secret for \(secret.name): \(error)")
        }
    }
}

/// Why a request cannot be made.
struct OutboxFailureError: Error {
    let failure: OutboxFailure
    init(_ kind: OutboxFailure.Kind, _ message: String) { failure = OutboxFailure(kind, message) }
}
