// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
package import SessionCore

/// The parameters of a call, read one by one; null counts as missing.
package struct VarlinkParameters: Sendable {
    private var members: [String: JSONValue]

    package init(_ members: [String: JSONValue]) { self.members = members }

    /// Refuses a parameter that was not read: a misspelt one would else be ignored.
    package func finish() throws(VarlinkRefusal) {
        if let name = members.keys.min() { throw VarlinkRefusal(.invalidParameter(name)) }
    }

    private mutating func consume<Value>(
        _ name: String, _ convert: (JSONValue) -> Value?
    ) throws(VarlinkRefusal) -> Value? {
        guard let value = members.removeValue(forKey: name), value != .null else { return nil }
        guard let converted = convert(value) else { throw VarlinkRefusal(.invalidParameter(name)) }
        return converted
    }

    package mutating func string(_ name: String) throws(VarlinkRefusal) -> String? {
        try consume(name) { $0.string }
    }

    /// A mandatory string.
    package mutating func required(_ name: String) throws(VarlinkRefusal) -> String {
        guard let text = try string(name) else { throw VarlinkRefusal(.invalidParameter(name)) }
        return text
    }

    package mutating func flag(_ name: String) throws(VarlinkRefusal) -> Bool? {
        try consume(name) { $0.bool }
    }

    package mutating func count(_ name: String, in range: ClosedRange<Int>) throws(VarlinkRefusal) -> Int? {
        try consume(name) { $0.int.flatMap { range.contains($0) ? $0 : nil } }
    }

    /// Seconds, not negative, at most a hundred years.
    package mutating func seconds(_ name: String) throws(VarlinkRefusal) -> Duration? {
        try consume(name) { value in
            guard let seconds = value.double, seconds >= 0, seconds <= 3_155_760_000 else { return nil }
            return .nanoseconds(Int64(seconds * 1e9))
        }
    }

    package mutating func time(_ name: String) throws(VarlinkRefusal) -> WallTime? {
        try consume(name) { $0.string.flatMap { WallTime($0) } }
    }

    /// A name or an address, which may have a zone.
    package mutating func host(_ name: String) throws(VarlinkRefusal) -> String? {
        try consume(name) { value in
            value.string.flatMap { text in
                // Longer texts are no names (RFC 1035 §3.1).
                let isName =
                    (1...253).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
                return isName ? text : nil
            }
        }
    }

    /// A list of objects; empty if missing.
    package mutating func objects(_ name: String) throws(VarlinkRefusal) -> [[String: JSONValue]] {
        try consume(name) { value in
            guard let items = value.array else { return nil }
            let objects = items.compactMap(\.object)
            return objects.count == items.count ? objects : nil
        } ?? []
    }

    /// A list of strings, at most so many; empty if missing.
    package mutating func texts(_ name: String, upTo most: Int) throws(VarlinkRefusal) -> [String] {
        try consume(name) { value in
            guard let items = value.array, items.count <= most else { return nil }
            let texts = items.compactMap(\.string)
            return texts.count == items.count ? texts : nil
        } ?? []
    }

    /// Strings by name.
    package mutating func strings(_ name: String) throws(VarlinkRefusal) -> [String: String] {
        try consume(name) { value in
            guard let object = value.object else { return nil }
            var strings: [String: String] = [:]
            for (name, value) in object {
                guard let text = value.string else { return nil }
                strings[name] = text
            }
            return strings
        } ?? [:]
    }
}
