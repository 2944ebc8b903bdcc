// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore

/// The request of a task as it is sent now, and what has led to it: adapters, redirects, credentials.
///
/// An object, because all parts of an execution read it. On the loop's thread.
final class RequestChain {
    let task: SessionTask
    /// The request that is sent next, or is under way.
    private(set) var current: Shared<SessionRequest>
    /// The request before the first redirect that led elsewhere; nil where none has.
    private var beforeRedirects: Shared<SessionRequest>?
    /// How many redirects were followed.
    private(set) var redirects = 0
    /// The request that the response of the exchange under way asks for.
    private var following: Shared<SessionRequest>?
    private var misdirection = Misdirection()
    /// Other URLs of the content; nil where there are none.
    let mirrors: MirrorFlow?

    init(_ task: SessionTask) {
        self.task = task
        current = task.request
        mirrors = task.sharedPlan.value.options.mirrors.isEmpty ? nil : MirrorFlow(task)
    }

    var request: SessionRequest {
        _read { yield current.value }
        set {
            current = Shared(newValue)
            task.setCurrentRequest(current)
        }
    }

    /// The options of the current request, read in place.
    var options: RequestOptions { _read { yield current.value.sharedOptions.value } }

    /// What the connections of the current request are kept for, and approvals of their servers.
    var origin: String {
        let url = request.url
        if let socket = task.session.configuration.unixSocket, !url.absoluteString.mayNameSocket {
            return SocketRoute.origin(of: socket)
        }
        return url.originText
    }

    // MARK: Rules that depend on the task

    /// How the session follows redirects; not to plain http with pins, which nothing could be compared with.
    var redirectRules: RedirectRules {
        var rules = task.session.configuration.redirects
        if task.session.policy.pinningMode != .none { rules.followsToInsecure = false }
        return rules
    }
    /// Whether the request may be carried out twice.
    var isIdempotent: Bool { task.plan.options.queueing?.values.isIdempotent ?? request.isIdempotent }
    /// Whether a checksum shows at the end that the bytes of a download belong together.
    private var isChecked: Bool { task.sharedPlan.value.options.continuesWithoutValidator }

    /// Whether a URL is of the origin that the task was made for.
    func isAtHome(_ url: URL) -> Bool {
        guard let origin = Origin(url) else { return false }
        let home = task.originalRequest.url
        return origin == Origin(home) || secured(home).map { origin == Origin($0) } == true
    }

    /// What has failed, as an error of this library.
    func sessionError(_ error: any Error, _ code: SessionError.Code = .unknown) -> SessionError {
        (error as? SessionError)
            ?? SessionError(
                error is CancellationError ? .cancelled : code, "\(error)", failingURL: request.url,
                underlying: error)
    }

    // MARK: Resuming

    /// The rules for continuing the content of a record with the current request.
    func rules(toContinue record: ResumeRecord) -> ResumeRules {
        ResumeRules(
            record: record, base: request, keepingBack: task.session.configuration.redirects.sensitiveFields,
            isChecked: isChecked)
    }

    /// The rules for the response to the current request, which asks for missing bytes.
    func rules(afterAskingFor record: ResumeRecord) -> ResumeRules {
        ResumeRules(
            record: record, asked: request, isChecked: isChecked, isMirror: mirrors != nil)
    }

    /// The record as the URL that is asked now may continue it.
    func atMirror(_ record: ResumeRecord) -> ResumeRecord {
        guard mirrors != nil, record.url != request.url else { return record }
        return MirrorRules.moved(record, to: request.url, isChecked: isChecked)
    }

    /// Whether the content of a record can be continued.
    func canResume(_ record: ResumeRecord) -> Bool {
        switch rules(toContinue: record).plan {
        case .resume, .complete: true
        case .restart: false
        }
    }

    /// The record of a content that has come in part; nil where it cannot be continued.
    ///
    /// - Parameter path: where the part is; nil for a reader.
    func resumeRecord(
        of response: SessionResponse, bytes: Int64, _ expected: Int64?, _ path: String?
    ) -> ResumeRecord? {
        var asked = request
        // A server that sends the whole has ignored it.
        if path != nil { asked.headerFields[.range] = nil }
        guard ResumeRules.canRecord(asked, response: response, isChecked: isChecked) else { return nil }
        return try? ResumeRecord(
            request: recordedRequest, response: response, receivedBytes: bytes, totalBytes: expected,
            partialFile: path ?? "-")
    }

    // MARK: Redirects

    /// The request that follows the exchange under way; nil where none does.
    var next: SessionRequest? {
        get { following?.value }
        set {
            var next = newValue
            // A handler may have answered with an http URL of a known host.
            if let url = next.flatMap({ secured($0.url) }) { next?.url = url }
            following = next.map { Shared($0) }
        }
    }
    var hasNext: Bool { following != nil }

    /// The request before redirects: as the adapters want it, with the credentials that its server has asked
    /// for since.
    var beforeRedirection: SessionRequest {
        _read {
            let first = beforeRedirects ?? current
            yield first.value
        }
    }
    var isRedirected: Bool { beforeRedirects != nil }

    /// Whether resume records are of the request before redirects: not where redirects have made a GET of
    /// another method, whose content is asked for where they have led.
    var recordsBeforeRedirects: Bool { beforeRedirection.method == request.method }
    private var recordedRequest: SessionRequest { recordsBeforeRedirects ? beforeRedirection : request }

    /// One request follows another as the server wants; ``request`` is still the former one, perhaps with the
    /// cache's conditions.
    func follow(from former: SessionRequest, to next: SessionRequest) {
        redirects += 1
        misdirection = Misdirection()
        guard beforeRedirects == nil, next.url != former.url || next.method != former.method else { return }
        beforeRedirects = Shared(former)
    }

    /// Goes back to the request before redirects.
    ///
    /// - Returns: whether there were any: servers on their way ask for credentials again.
    func rewindRedirects() -> Bool {
        redirects = 0
        misdirection = Misdirection()
        guard let first = beforeRedirects.take() else { return false }
        current = first
        task.setCurrentRequest(first)
        return true
    }

    // MARK: Bodies

    /// Whether sending the current request again takes another body, when `transfer` has sent it.
    func isBodySpent(by transfer: Transfer) -> Bool {
        guard case .stream(let source)? = request.body, !source.isRewindable else { return false }
        return transfer.body.sent > 0
    }

    // MARK: Misdirected requests (421)

    var isMisdirected: Bool { misdirection.isPending }
    /// Whether the next exchange may use no connection that is there already.
    var needsNewConnection: Bool { misdirection.needsNewConnection }

    /// A head with status 421 has come.
    ///
    /// - Returns: whether the request is sent again.
    func receivedMisdirection() -> Bool {
        misdirection.received(canRepeat: request.body?.isRewindable != false)
    }

    /// The exchange that was misdirected is over.
    func leaveMisdirected() { misdirection.exchangeEnded() }

    /// A new exchange begins.
    func forgetExchange() {
        following = nil
        misdirection.exchangeBegins()
    }
}
