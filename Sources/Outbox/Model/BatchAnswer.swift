// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// What a server says of one entry of a batch.
struct BatchItem: Sendable, Equatable {
    var statusCode: Int
    /// The part of the answer, as JSON.
    var text: Data
}

/// Reads what a server says of each entry of a batch, from the content of 207, and of 200 with `"errors":
/// true`, which is how Elasticsearch's bulk interface answers.
///
/// Understood is an array with an element for each entry, in their order, as the whole document or as the
/// member `items`, `results` or `responses` of an object. An element is a status (`201`), an object with the
/// member `status`, `statusCode` or `code`, or one whose only member is such an object (`{"index":
/// {"status": 201}}`).
enum BatchAnswer {
    /// nil if the answer does not speak of each of `count` entries.
    static func items(statusCode: Int, _ data: Data, count: Int) -> [BatchItem]? {
        guard statusCode == 207 || statusCode == 200, let document = try? JSONValue(parsing: data) else {
            return nil
        }
        if statusCode == 200 { guard document["errors"]?.bool == true else { return nil } }
        let list = document.array ?? lists.lazy.compactMap { document[$0]?.array }.first
        guard let list, list.count == count else { return nil }
        var items: [BatchItem] = []
        for element in list {
            guard let status = status(element) else { return nil }
            items.append(BatchItem(statusCode: status, text: (try? element.data()) ?? Data()))
        }
        return items
    }

    private static let lists = ["items", "results", "responses"]

    private static func status(_ element: JSONValue) -> Int? {
        if let status = number(element) { return status }
        for name in ["status", "statusCode", "code"] {
            if let status = element[name].flatMap({ number($0) }) { return status }
        }
        guard let members = element.object, members.count == 1, let inner = members.values.first,
            inner.object != nil
        else { return nil }
        return status(inner)
    }

    private static func number(_ value: JSONValue) -> Int? {
        guard case .integer(let number) = value, (100..<600).contains(number) else { return nil }
        return Int(number)
    }
}
