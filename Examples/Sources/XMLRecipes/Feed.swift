// SPDX-License-Identifier: Apache-2.0

import FoundationXML
import SessionManager
import SessionManagerXML

/// The titles of a feed.
func titles(_ manager: URLSessionManager, of address: String) async throws -> [String] {
    let feed = try await manager.object(
        for: SessionRequest(address), using: XMLDocumentResponseSerializer())
    let items = feed?.root.first("channel")?.elements.filter { $0.name == "item" } ?? []
    return items.compactMap { $0.first("title")?.text }
}

/// Reads a long list in events, without a tree of it in memory.
func countEntries(_ manager: URLSessionManager, of address: String) async throws -> Int {
    let source = try await manager.object(for: SessionRequest(address), using: XMLParserResponseSerializer())
    guard let parser = source?.makeParser() else { return 0 }
    let counter = EntryCounter()
    parser.delegate = counter
    guard parser.parse() else { throw parser.parserError ?? EntryCounter.Malformed() }
    return counter.entries
}

/// Counts elements as they begin.
final class EntryCounter: XMLParserDelegate {
    struct Malformed: Error {}
    private(set) var entries = 0

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        if name == "entry" { entries += 1 }
    }
}
