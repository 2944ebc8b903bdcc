// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import Reachability
public import SessionCore

/// Gets every step of a manager's tasks, beside the delegate and without influence: for logs, metrics, tests.
///
///     manager.eventMonitors = [EventMonitor { task, step in log("\(task.identifier) \(step)") }]
///
/// Any number may be there. Each is called on its own queue, so a slow one holds up neither transfers nor the
/// others; the steps of a task come in order. Without a monitor the steps are not even made.
public struct EventMonitor: Sendable {
    private let queue: DeliveryQueue
    private let handler: @Sendable (SessionTask, TaskStep) -> Void
    /// Whether it gets the steps of which there may be very many.
    let hearsOfBytes: Bool

    /// A monitor.
    ///
    /// - Parameters:
    ///   - queue: where `handler` is called; a thread of its own unless said.
    ///   - hearsOfBytes: whether it gets ``TaskStep/sentBody(_:)`` and ``TaskStep/receivedContent(_:)`` too,
    ///     one for each part, mostly 16 KiB; no.
    ///   - handler: gets each step.
    public init(
        queue: DeliveryQueue = .own, hearsOfBytes: Bool = false,
        _ handler: @escaping @Sendable (SessionTask, TaskStep) -> Void
    ) {
        self.queue = queue
        self.handler = handler
        self.hearsOfBytes = hearsOfBytes
    }

    func record(_ task: SessionTask, _ step: TaskStep) {
        let handler = handler
        queue.submit { handler(task, step) }
    }
}

/// What has happened to a task.
public enum TaskStep: Sendable {
    /// It was made, suspended.
    case created
    /// It was resumed, for the first time or after a suspension.
    case resumed
    /// It was suspended.
    case suspended
    /// It was cancelled.
    case cancelled
    /// The adapters have made this request of the original one.
    case adapted(SessionRequest)
    /// An adapter refuses it.
    case adaptationFailed(SessionError)
    /// A request goes to the network: the first, one after a redirect or with credentials, or another try.
    case sent(SessionRequest)
    /// A part of the body was handed to the connection; for monitors that get bytes.
    case sentBody(TransferProgress.Snapshot)
    /// The head of a response has come; also of one that is no end, such as a redirect.
    case received(SessionResponse)
    /// A part of the content has come; for monitors that get bytes.
    case receivedContent(TransferProgress.Snapshot)
    /// Nothing of it runs, since its path is gone: a sentence says why. It continues on another one, or ends
    /// with an error where it was sent and must not be sent twice.
    case parked(String)
    /// It continues after that.
    case unparked
    /// A redirect is followed.
    case redirected(to: SessionRequest)
    /// The request goes by https, since an ``HSTSStore`` knows its host; redirects there are so already.
    case secured(SessionRequest)
    /// A handler or delegate is asked to answer a challenge of the server, or about the server.
    case challenged(AuthenticationChallenge)
    /// The response is a stored one.
    case usedCache(SessionResponse)
    /// An exchange has ended and was measured.
    case measured(TransferMetrics)
    /// It is tried again, as an interceptor wants; after a delay or at once. `count` tries came before.
    case retrying(count: Int, after: SessionError, delay: Duration?)
    /// The content is asked for at this URL of ``TaskOptions/mirrors``, or at the request's own, after a
    /// failure at the one before; the same again where a connection broke within the content.
    case mirror(URL, after: SessionError)
    /// A finished download was moved to this path.
    case moved(path: String)
    /// The content was handed to the serializer, which has made something of it, or refuses it.
    case serialized(SessionError?)
    /// It has ended; the completion block is called next.
    case completed(SessionError?)
}

extension TaskStep: CustomStringConvertible {
    /// One line for a log, without content, header fields or credentials.
    public var description: String {
        switch self {
        case .created: "created"
        case .resumed: "resumed"
        case .suspended: "suspended"
        case .cancelled: "cancelled"
        case .adapted(let request): "adapted: \(Self.line(request))"
        case .adaptationFailed(let error): "adaptation failed: \(error.code.rawValue)"
        case .sent(let request): "sent: \(Self.line(request))"
        case .sentBody(let progress): "sent body: \(Self.bytes(progress))"
        case .received(let response): "received: \(response.statusCode ?? 0)"
        case .receivedContent(let progress): "received content: \(Self.bytes(progress))"
        case .parked(let sentence): "parked: \(sentence)"
        case .unparked: "went on"
        case .redirected(let request): "redirected: \(Self.line(request))"
        case .secured(let request): "secured: \(Self.line(request))"
        case .challenged(let challenge): "challenged: \(challenge.method) by \(challenge.host)"
        case .usedCache: "used the cache"
        case .measured(let metrics): "measured: \(metrics.bytesReceived) bytes received"
        case .retrying(let count, let error, let delay):
            "retrying (\(count + 1)) after \(error.code.rawValue)" + (delay.map { ", in \($0)" } ?? "")
        case .mirror(let url, let error):
            "mirror: \(url.host() ?? "")\(url.path(percentEncoded: true)) after \(error.code.rawValue)"
        case .moved(let path): "moved to \(path)"
        case .serialized(let error): error.map { "not serialized: \($0.code.rawValue)" } ?? "serialized"
        case .completed(let error): error.map { "completed: \($0.code.rawValue)" } ?? "completed"
        }
    }

    private static func bytes(_ progress: TransferProgress.Snapshot) -> String {
        "\(progress.completedBytes)" + (progress.totalBytes.map { " of \($0)" } ?? "") + " bytes"
    }

    /// Without user, password and query, where secrets are.
    private static func line(_ request: SessionRequest) -> String {
        "\(request.method.rawValue) \(request.url.host() ?? "")\(request.url.path(percentEncoded: true))"
    }
}

extension SessionTask {
    /// Publishes a step to the manager's monitors; without one it is not made.
    func publish(_ step: @autoclosure () -> TaskStep) {
        guard !plan.monitors.isEmpty else { return }
        let step = step()
        for monitor in plan.monitors { monitor.record(self, step) }
    }

    /// Publishes bytes to the monitors that get them.
    func publishBytes(_ direction: ByteCounters.Direction) {
        let progress = counters.snapshot(direction)
        let step = direction == .sent ? TaskStep.sentBody(progress) : .receivedContent(progress)
        for monitor in plan.monitors where monitor.hearsOfBytes { monitor.record(self, step) }
    }
}
