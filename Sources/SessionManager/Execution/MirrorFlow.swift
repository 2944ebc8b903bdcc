// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// The URLs of one task's content, and which of them is asked; on the loop's thread.
///
/// An object, since the chain and the steps of a task read it.
final class MirrorFlow {
    /// The request's own, then those of ``TaskOptions/mirrors``.
    private let urls: [URL]
    private var rules: MirrorRules
    private let sensitiveFields: SensitiveFields

    init(_ task: SessionTask) {
        let mirrors = task.plan.options.mirrors.map { (try? $0.withASCIIHost) ?? $0 }
        urls = [task.originalRequest.url] + mirrors
        rules = MirrorRules(count: urls.count)
        sensitiveFields = task.session.configuration.redirects.sensitiveFields
    }

    /// An earlier process has left a part of the content, which this URL gave last.
    func begin(continuing former: URL?) {
        guard let former else { return }
        rules = MirrorRules(count: urls.count, first: urls.firstIndex(of: former) ?? 0, hasPart: true)
    }

    /// Whether no URL is worth another try.
    var isSpent: Bool { rules.isSpent }

    /// The URL that is asked.
    var url: URL { urls[rules.current] }

    /// The request, which is made for the first URL, at the one that is asked.
    func placed(_ request: SessionRequest) -> SessionRequest {
        rules.current == 0 ? request : request.moved(to: url, keepingBack: sensitiveFields)
    }

    /// A try has failed; nil where the URL is not to blame.
    func failed(
        _ error: SessionError, _ response: SessionResponse?, _ bytes: MirrorRules.Bytes
    ) -> MirrorRules.Step? {
        let status = response?.statusCode ?? error.response?.statusCode
        return MirrorRules.fault(error.code, status: status, hasContent: bytes != .none).map {
            rules.failed($0, after: bytes)
        }
    }

    /// A retrier wants another try.
    func beginRound() { rules.beginRound() }

    /// Refuses mirrors that cannot be used.
    static func check(
        _ mirrors: [URL], of request: SessionRequest, _ kind: SessionTask.Kind
    ) throws(SessionError) {
        guard kind == .download, request.method == .get else {
            throw SessionError(
                .unsupportedURL, "only a download by GET has mirrors",
                advice: "leave TaskOptions.mirrors empty, or make a download task", failingURL: request.url)
        }
        for mirror in mirrors {
            guard try mirror.withASCIIHost.isSpoken else {
                throw SessionError(
                    .unsupportedURL, "the mirror \(mirror.textWithoutUser) is no http or https URL",
                    failingURL: mirror)
            }
        }
    }
}

// What has come of a content that has several URLs.
extension Resumption {
    /// The URL of the content of which an earlier process, or task, has left a part.
    var formerURL: URL? { record?.url ?? checkpoints?.file.recordedURL }

    /// What has come of a download until now, for another of its URLs; nil where nothing can be continued.
    func part(
        _ transfer: Transfer?, _ content: borrowing ContentRouter, _ chain: RequestChain
    ) -> ResumeRecord? {
        content.file == nil ? record : transfer.flatMap { current($0, content, chain) }
    }

    /// What has come is useless: no later try or process continues it.
    mutating func throwAway() {
        giveUp()
        checkpoints?.forget()
    }
}
