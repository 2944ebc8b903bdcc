// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// What an ``HSTSStore`` does for the tasks of a manager.
///
/// Closures: programs that make no store do not link one.
final class StrictTransport: Sendable {
    let store: HSTSStore
    /// The https URL in place of an http URL of a known host; nil where it goes as it is.
    let secured: @Sendable (URL) -> URL?
    /// Records what the server of a response says of itself.
    let received: @Sendable (SessionResponse) -> Void

    init(
        _ store: HSTSStore, secured: @escaping @Sendable (URL) -> URL?,
        received: @escaping @Sendable (SessionResponse) -> Void
    ) {
        self.store = store
        self.secured = secured
        self.received = received
    }
}

extension RequestChain {
    /// The https URL in place of an http URL of a known host (RFC 6797 §8.3); nil where it goes as it is.
    ///
    /// What goes to a unix socket goes to no host.
    func secured(_ url: URL) -> URL? {
        guard let strictTransport = task.plan.strictTransport,
            task.session.configuration.unixSocket == nil
        else { return nil }
        return strictTransport.secured(url)
    }

    /// Has the current request go by https where its host is known for that.
    ///
    /// Called before a cache is asked and before each exchange: a host may become known while a request
    /// waits.
    func secure() {
        guard task.plan.strictTransport != nil, let url = secured(request.url) else { return }
        var next = request
        next.url = url
        task.publish(.secured(next))
        request = next
    }

    /// The task's request as its adapters see it: by https where its host is known for that.
    var originalRequest: SessionRequest {
        var original = task.originalRequest
        if let url = secured(original.url) { original.url = url }
        return original
    }

    /// Records what the head of a response says about its host, where it came from the host itself
    /// (RFC 6797 §8.1).
    func recordStrictTransport(_ head: SessionResponse, isSecure: Bool) {
        guard let strictTransport = task.plan.strictTransport, isSecure, task.session.provesServers else {
            return
        }
        strictTransport.received(head)
    }
}

extension Session {
    /// Whether TLS shows that a server is the one of the URL: a delegate may have accepted any.
    var provesServers: Bool {
        serverJudge == nil && policy.provesServers && configuration.unixSocket == nil
    }
}
