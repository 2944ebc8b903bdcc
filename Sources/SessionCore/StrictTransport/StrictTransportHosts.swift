// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// The hosts that are spoken to by TLS alone (RFC 6797, HSTS); points in time are seconds since 1970.
package struct StrictTransportHosts: Sendable {
    struct Entry: Sendable {
        /// Until when it is known; `.max` for ever.
        var expires: Int64
        /// The same as it was stored last: each answer of the host moves `expires`.
        var storedExpiry: Int64
        var includesSubdomains: Bool
    }

    /// How many hosts are learned at most: a server with many names could fill the memory.
    package static let capacity = 1000
    /// How far an expiry moves before it is stored again: a day.
    private static let storedDistance: Int64 = 86_400

    var learned: [String: Entry] = [:]
    /// Known for ever; whether the hosts below are too.
    private var preloaded: [String: Bool] = [:]

    package init() {}

    /// Adds a host that is known without having been spoken to, with a dot before it for those below it too.
    ///
    /// - Returns: false for what is no name of a host.
    package mutating func preload(_ text: String) -> Bool {
        let includesSubdomains = text.utf8.first == UInt8(ascii: ".")
        guard let name = Self.name(includesSubdomains ? text.dropFirst() : text[...]) else { return false }
        preloaded[name] = includesSubdomains || preloaded[name] == true
        return true
    }

    /// Records what a host has said (§8.1).
    ///
    /// A new host is not learned while ``capacity`` others are: they stay protected.
    ///
    /// - Parameter host: its name; addresses are never known.
    /// - Returns: whether what is to be stored has changed.
    package mutating func record(_ field: StrictTransportField, of host: String, at now: Int64) -> Bool {
        guard let name = Self.name(host[...]) else { return false }
        guard field.maximumAge > 0 else { return learned.removeValue(forKey: name) != nil }
        let expires = Self.expiry(max(now, 0) + field.maximumAge)
        if let old = learned[name], old.includesSubdomains == field.includesSubdomains {
            let distance = min(Self.storedDistance, field.maximumAge / 10)
            if abs(expires - old.storedExpiry) <= distance {
                learned[name]?.expires = expires
                return false
            }
        } else if learned[name] == nil, learned.count >= Self.capacity {
            learned = learned.filter { $0.value.expires > now }
            guard learned.count < Self.capacity else { return false }
        }
        learned[name] = Entry(
            expires: expires, storedExpiry: expires, includesSubdomains: field.includesSubdomains)
        return true
    }

    /// A year of five digits cannot be stored.
    static func expiry(_ seconds: Int64) -> Int64 { seconds > 253_402_300_799 ? .max : seconds }

    /// Whether a host is known, by itself or by one above it (§8.2).
    package func contains(_ host: String, at now: Int64) -> Bool {
        guard let name = Self.name(host[...]) else { return false }
        if preloaded[name] != nil || learned[name].map({ $0.expires > now }) == true { return true }
        var rest = name[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.utf8.index(after: dot)...]
            let parent = String(rest)
            if preloaded[parent] == true { return true }
            if let entry = learned[parent], entry.includesSubdomains, entry.expires > now { return true }
        }
        return false
    }

    /// Forgets a host that was learned; false where it was not.
    package mutating func remove(_ host: String) -> Bool {
        Self.name(host[...]).flatMap { learned.removeValue(forKey: $0) } != nil
    }

    /// Forgets all that were learned.
    package mutating func removeAll() { learned = [:] }

    /// All that are known, in order, with a dot before those whose hosts below are too.
    package func all(at now: Int64) -> [String] {
        let known = learned.filter { $0.value.expires > now }.mapValues(\.includesSubdomains)
        return known.merging(preloaded) { $0 || $1 }.map { ($0.value ? "." : "") + $0.key }.sorted()
    }

    /// The name as it is compared: lower case without a dot at the end; nil for an address and other text.
    static func name(_ host: Substring) -> String? {
        var bytes = Array(host.utf8.prefix(256))
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        guard !bytes.isEmpty, bytes.count <= 253 else { return nil }
        for index in bytes.indices where (0x41...0x5A).contains(bytes[index]) { bytes[index] |= 0x20 }
        guard bytes.allSatisfy({ $0.isASCIIAlphanumeric || "-_.".utf8.contains($0) }) else { return nil }
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let last = labels.last, !labels.contains(where: \.isEmpty) else { return nil }
        // The spellings of IPv4 addresses that inet_aton(3) takes end with a number, and no name does.
        let isHexadecimal = last.starts(with: "0x".utf8) && last.dropFirst(2).allSatisfy(\.isASCIIHexDigit)
        guard !isHexadecimal, !last.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The https URL that is used in place of an http URL of a known host (§8.3); nil where it goes as it is.
    package func secured(_ url: URL, at now: Int64) -> URL? {
        // The scheme `http` ends there; https URLs are the most.
        let text = url.absoluteString
        guard text.utf8.dropFirst(4).first == UInt8(ascii: ":"), let origin = Origin(url),
            !origin.isSecure, contains(origin.host, at: now)
        else { return nil }
        let rest = text.utf8.dropFirst("http://".utf8.count)
        let end = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
        let start = rest[..<end].lastIndex(of: UInt8(ascii: "@")).map(rest.index(after:)) ?? rest.startIndex
        var server = String(Substring(rest[start..<end]))
        // Port 80 becomes 443, and others stay.
        if origin.port == 80, let colon = server.utf8.firstIndex(of: UInt8(ascii: ":")) {
            server = server[..<colon] + ":443"
        }
        let user = Substring(rest[..<start])
        return URL(
            string: "https://\(user)\(server)\(Substring(rest[end...]))", encodingInvalidCharacters: false)
    }
}
