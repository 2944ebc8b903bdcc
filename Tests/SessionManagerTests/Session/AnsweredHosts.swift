// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import ReachTesting
import SessionCore
import SessionManager
import Synchronization
import TestSupport
import Testing

private let aYear = ["Strict-Transport-Security": "max-age=31536000"]

/// Tests with managers whose requests are answered, and whose hosts may want https alone.
protocol AnsweredHosts {}

extension AnsweredHosts {
    /// What a server says that wants https alone.
    static var year: [String: String] { aYear }

    /// A manager whose requests are answered, and the URLs that went out.
    func answered(
        _ store: HSTSStore?, queue: RequestQueue.Settings? = nil,
        _ answer: @escaping @Sendable (SentRequest) throws -> Answer = { _ in .text("ok", headers: aYear)
        }
    ) -> (manager: URLSessionManager, sent: Diary<String>) {
        let sent = Diary<String>()
        let manager = URLSessionManager(queue: queue, responseSerializer: HTTPResponseSerializer()) {
            request in
            sent.record(request.url.absoluteString)
            return try answer(request)
        }
        manager.hsts = store
        return (manager, sent)
    }

    func get(_ manager: URLSessionManager, _ address: String) async throws -> SessionResponse {
        try await manager.data(for: SessionRequest(address)).1
    }
}
