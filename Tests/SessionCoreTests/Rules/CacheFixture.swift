// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore

/// Requests and responses around one moment, for tests of the cache.
enum CacheFixture {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    static let start = Date(timeIntervalSince1970: 784_111_777)

    static func at(_ seconds: Int) -> Date { start.addingTimeInterval(Double(seconds)) }

    /// How HTTP writes that moment.
    static func text(_ seconds: Int) -> String { HTTPDate(at(seconds)).text }

    static func fields(_ pairs: [String: String]) throws -> HTTPFields {
        var request = try SessionRequest("http://h/")
        for (name, value) in pairs { try request.setValue(value, forHeader: name) }
        return request.headerFields
    }

    static func request(
        _ pairs: [String: String] = [:], url: String = "http://h/x",
        policy: CachePolicy = .useProtocolCachePolicy,
        method: HTTPRequest.Method = .get
    ) throws -> SessionRequest {
        var request = try SessionRequest(url, method: method, headerFields: fields(pairs))
        request.options.cachePolicy = policy
        return request
    }

    static func response(_ pairs: [String: String], status: Int = 200) throws -> SessionResponse {
        SessionResponse(
            url: try SessionRequest("http://h/x").url, statusCode: status, headerFields: try fields(pairs))
    }

    /// An entry that came at the start, after a second on the way.
    static func entry(
        _ pairs: [String: String], status: Int = 200, request: SessionRequest? = nil, delay: Int = 0
    ) throws -> CacheEntry {
        CacheEntry(
            request: try request ?? self.request(), response: try response(pairs, status: status),
            requestDate: at(-delay), responseDate: at(0), contentLength: 5)
    }

    /// A decision in a few words.
    static func name(_ decision: CacheDecision) -> String {
        switch decision {
        case .load: "load"
        case .use(nil): "use"
        case .use: "use and confirm"
        case .revalidate(let request, let mayUseStale):
            "confirm \(request.headerFields[.ifNoneMatch] ?? "-")\(request.headerFields[.ifModifiedSince] == nil ? "" : " by date")"
                + (mayUseStale ? " or stale" : "")
        case .unavailable(let error): "unavailable \(error.code.rawValue)"
        }
    }
}
