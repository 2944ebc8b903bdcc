// SPDX-License-Identifier: Apache-2.0

import SessionManager
import SessionManagerXML

/// The titles of a feed.
func titles(_ manager: URLSessionManager, of address: String) async throws -> [String] {
    let feed = try await manager.object(
        for: SessionRequest(address), using: XMLDocumentResponseSerializer())
    let items = feed?.root.first("channel")?.elements.filter { $0.name == "item" } ?? []
    return items.compactMap { $0.first("title")?.text }
}
