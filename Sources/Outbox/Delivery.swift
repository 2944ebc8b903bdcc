// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import Synchronization

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
    let transfer: InFlightDelivery.Transfer
    /// Where progress is reported.
    let reactor: Reactor

    /// Sends the request; nil if the manager was invalidated.
    func run() async -> DeliveryOutcome? {
        var outcome = DeliveryOutcome(id: pending.id, lane: pending.lane, verdict: .untried)
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
        if pending.size >= Self.progressSize {
            options.uploadProgress = { [transfer] in transfer.onProgress($0.completedBytes) }
            options.progressQueue = .onLoop(reactor)
        }
        let exchange: TaskOutcome
        do throws(SessionError) {
            let task =
                request.body == nil
                ? try manager.dataTask(with: request, options: options)
                : try manager.uploadTask(withStreamedRequest: request, options: options)
            let endObserving = transfer.began(task)
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
        if case .retry(let failure) = outcome.verdict, failure.kind == .credentials {
            for secret in pending.secrets {
                await configuration.secretSources[secret.source]?.refused(named: secret.key)
            }
        }
        if let response = exchange.response, let status = response.statusCode {
            outcome.retryAfter = later
            outcome.reply = OutboxReply(
                statusCode: status,
                header: Self.head(SecretMask.masked(response.headerBlock, secrets)),
                body: body(exchange.data, secrets))
        }
        return outcome
    }

    /// The beginning of an answer's content that is stored.
    private func body(_ content: Data?, _ secrets: [String]) -> Data {
        let most = max(configuration.limits.maximumReplySize, 0)
        guard !secrets.isEmpty, let content else { return (content ?? Data()).prefix(most) }
        // Before it is cut, since a part of a secret would not be found.
        return Data(SecretMask.masked(Array(content), secrets).prefix(most))
    }

    /// The whole lines of an answer's head that are stored.
    static func head(_ block: [UInt8]) -> String {
        var bytes = block.filter { $0 != 13 }
        if bytes.count > longestHead {
            let end = bytes[..<longestHead].lastIndex(of: 10) ?? 0
            bytes.removeLast(bytes.count - end - 1)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let longestHead = 8 << 10

    /// Whether the request was sent completely and the time limit ended before its answer did.
    private func isUnanswered(_ exchange: TaskOutcome) -> Bool {
        guard exchange.error?.code == .timedOut else { return false }
        return exchange.metrics.last.map { $0.requestStart > .zero && $0.bytesSent >= pending.size } ?? false
    }

    private func verdict(_ exchange: TaskOutcome, asksForLater: Bool) -> DeliveryVerdict {
        let (response, fillsSecrets) = (exchange.response, !pending.secrets.isEmpty)
        let isSecure = response.flatMap { Origin($0.url) }?.isSecure ?? false
        if let error = exchange.error {
            return DeliveryVerdict(
                error: error, statusCode: response?.statusCode, fillsSecrets: fillsSecrets,
                isSecure: isSecure, isRepeated: isRepeated, asksForLater: asksForLater)
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

    /// The request, and the secrets that were filled in.
    private func request() async throws(OutboxFailureError) -> (SessionRequest, [String]) {
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
            request.options.cachePolicy = .reloadIgnoringLocalCacheData
            // The status decides; only the beginning of the content is stored.
            request.options.maximumContentLength = Int64(
                max(configuration.limits.maximumReplySize, Self.smallAnswer))
            return (request, secrets)
        } catch {
            throw OutboxFailureError(.unsendable, error.message)
        }
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

private struct OutboxFailureError: Error {
    let failure: OutboxFailure
    init(_ kind: OutboxFailure.Kind, _ message: String) { failure = OutboxFailure(kind, message) }
}

/// An attempt under way: in transfer, or held by the manager until there is a network.
struct InFlightDelivery: Sendable {
    /// The manager's task, once there is one.
    final class Transfer: Sendable {
        private let task = Mutex<SessionTask?>(nil)
        private let onHold: @Sendable (HoldReason?) -> Void
        let onProgress: @Sendable (Int64) -> Void

        /// - Parameters:
        ///   - onHold: called with why the manager holds it, and with nil when that ends.
        ///   - onProgress: called with the bytes that were sent.
        init(
            onHold: @escaping @Sendable (HoldReason?) -> Void,
            onProgress: @escaping @Sendable (Int64) -> Void
        ) { (self.onHold, self.onProgress) = (onHold, onProgress) }

        /// The bytes of the content that were sent.
        var sentBytes: Int64 { task.withLock { $0 }?.uploadProgress.completedBytes ?? 0 }

        /// - Returns: ends the observation of the task.
        func began(_ task: SessionTask) -> @Sendable () -> Void {
            self.task.withLock { $0 = task }
            return task.observeEvents { [onHold, identifier = task.identifier] event in
                switch event {
                case .held(let other, let reason) where other.identifier == identifier: onHold(reason)
                case .released(let other) where other.identifier == identifier: onHold(nil)
                default: break
                }
            }
        }

        /// Whether the manager holds it and nothing was sent.
        var isHeld: Bool { task.withLock { $0 }?.isHeld ?? false }
    }

    let work: Task<Void, Never>
    let transfer: Transfer
    /// Whether it is sent without TLS.
    let isPlain: Bool
    /// The interface that it is bound to; nil for the kernel's choice.
    let uplink: String?
    /// The time of day in which it may leave; nil for any.
    let window: OutboxWindow?
}
