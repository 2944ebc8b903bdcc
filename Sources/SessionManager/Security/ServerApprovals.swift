// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Which certificates the delegate of a session has accepted, for which servers; on the loop's thread.
///
/// It lasts as long as the connections that were made by it: libcurl gives a connection that one task was allowed to make to the next
/// task as well, so what is remembered for one is good for all.
final class ServerApprovals {
    private var certificates: [String: Set<Data>] = [:]

    /// What judges a handshake with a server, named as in ``Transfer/origin``.
    func judge(for origin: String) -> TrustEvaluator.Judge { .approvals(certificates[origin] ?? []) }

    /// The delegate has accepted a server's own certificate (DER).
    func approve(_ certificate: Data, for origin: String) {
        certificates[origin, default: []].insert(certificate)
    }
}
