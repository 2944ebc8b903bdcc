// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// The directives of `Cache-Control` that matter to a private cache (RFC 9111 §5.2, RFC 5861, RFC 8246).
///
/// Of contradicting directives the stricter one counts; a number that is none makes a response stale.
package struct CacheControl: Sendable, Equatable {
    /// Seconds for which a response is fresh, or how old one may be for this request.
    package var maxAge: Int64?
    /// Nothing may be kept.
    package var noStore = false
    /// Nothing may be used before the server has confirmed it.
    package var noCache = false
    /// Nothing stale may be used, not even where that was allowed otherwise.
    package var mustRevalidate = false
    /// Not even a reload asks for it while it is fresh.
    package var isImmutable = false
    /// Seconds for which a stale response may still be used while it is being confirmed.
    package var staleWhileRevalidate: Int64?
    /// Seconds for which a stale response may be used where the server fails.
    package var staleIfError: Int64?
    /// Nothing may be asked of the network.
    package var onlyIfCached = false
    /// Seconds for which a response has to stay fresh.
    package var minFresh: Int64?
    /// Seconds by which a response may be stale; the largest number for any.
    package var maxStale: Int64?

    /// Reads the values of all lines of the field.
    package init(_ values: [String]) {
        for value in values {
            var scanner = FieldScanner(value)
            while true {
                scanner.skipBlanksAndCommas()
                if scanner.isAtEnd { break }
                guard let name = scanner.token()?.lowercased() else {
                    scanner.skipToComma()
                    continue
                }
                scanner.skipBlanks()
                var argument: String?
                if scanner.skip(UInt8(ascii: "=")) {
                    scanner.skipBlanks()
                    argument = scanner.tokenOrQuotedString() ?? ""
                }
                apply(name, argument)
                scanner.skipToComma()
            }
        }
    }

    /// The directives of a response.
    package init(_ response: SessionResponse) { self.init(response.values(forHeader: "cache-control")) }

    /// The directives of a request; `Pragma: no-cache` counts where there are none (RFC 9111 §5.4).
    package init(_ request: SessionRequest) {
        let values = request.headerFields.filter { $0.name.canonicalName == "cache-control" }.map(\.value)
        self.init(values)
        if values.isEmpty {
            noCache = request.headerFields.contains {
                $0.name.canonicalName == "pragma" && $0.value.lowercased().contains("no-cache")
            }
        }
    }

    private mutating func apply(_ name: String, _ argument: String?) {
        switch name {
        case "max-age": maxAge = Self.shorter(maxAge, argument)
        case "no-store": noStore = true
        // With names of fields it would concern these alone; taken as if it had none, which is stricter.
        case "no-cache": noCache = true
        case "must-revalidate": mustRevalidate = true
        case "immutable": isImmutable = true
        case "stale-while-revalidate": staleWhileRevalidate = Self.shorter(staleWhileRevalidate, argument)
        case "stale-if-error": staleIfError = Self.shorter(staleIfError, argument)
        case "only-if-cached": onlyIfCached = true
        case "min-fresh": minFresh = max(minFresh ?? 0, Self.seconds(argument))
        case "max-stale": maxStale = argument == nil ? maxStale ?? .max : Self.shorter(maxStale, argument)
        default: break
        }
    }

    private static func shorter(_ value: Int64?, _ argument: String?) -> Int64 {
        min(value ?? .max, seconds(argument))
    }

    /// A number of seconds; 0 for what is none, and 2³¹ for what is more (RFC 9111 §1.2.2).
    static func seconds(_ text: String?) -> Int64 {
        guard let text, !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return 0 }
        return min(Int64(text) ?? .max, 1 << 31)
    }
}
