// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
import HTTPTypes

/// What a private cache may store and use (RFC 9111).
///
/// One response is kept for each URL: the variant that was asked for last.
package enum CacheRules {
    /// What may be fresh without saying so (RFC 9110 §15.1).
    static let heuristicStatuses: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
    /// Unless the server says so, nothing is fresh for longer than a day.
    static let longestHeuristic: Int64 = 86_400
    /// What may be stored where it says how long it is fresh.
    private static let storableStatuses = heuristicStatuses.union([302, 307])

    /// Whether the response to a request may be stored (RFC 9111 §3).
    ///
    /// Also not stored: responses to partial, conditional or bodied requests, and responses that could never
    /// be used.
    package static func isStorable(_ request: SessionRequest, _ response: SessionResponse, at now: Date)
        -> Bool
    {
        guard request.method == .get, request.body == nil, !isConditional(request),
            let status = response.statusCode, storableStatuses.contains(status),
            CacheEntry.variantNames(response) != nil
        else { return false }
        let control = CacheControl(response)
        guard !control.noStore, !CacheControl(request).noStore else { return false }
        if hasValidator(response) {
            return heuristicStatuses.contains(status) || isExplicit(response, control)
        }
        let entry = CacheEntry(
            request: request, response: response, requestDate: now, responseDate: now, contentLength: 0)
        return isExplicit(response, control) && !control.noCache && CacheFreshness(entry, at: now).isFresh
    }

    /// The decision for a request whose entry, if any, is this.
    package static func decide(_ request: SessionRequest, entry: CacheEntry?, at now: Date) -> CacheDecision {
        let policy = request.options.cachePolicy
        let directives = CacheControl(request)
        guard request.method == .get, request.body == nil, !isConditional(request),
            policy != .reloadIgnoringLocalCacheData
        else { return decisionWithoutEntry(policy, directives, request) }
        guard let entry, entry.matches(request) else {
            return decisionWithoutEntry(policy, directives, request)
        }
        let isOwn = entry.hasSameAuthorization(as: request)
        switch policy {
        case .returnCacheDataElseLoad, .returnCacheDataDontLoad:
            return isOwn ? .use(revalidating: nil) : decisionWithoutEntry(policy, directives, request)
        case .reloadRevalidatingCacheData:
            return confirm(entry, request, directives, isOwn: isOwn, mayUseStale: false)
        default: break
        }
        let control = CacheControl(entry.response)
        let freshness = CacheFreshness(entry, at: now)
        let isUsable = isOwn && !control.noCache && !directives.noStore
        if isUsable, isAcceptable(freshness, control, directives) { return .use(revalidating: nil) }
        let mayBeStale =
            isUsable && !control.mustRevalidate && !directives.noCache && directives.maxAge == nil
        if mayBeStale, directives.minFresh == nil, let grace = control.staleWhileRevalidate,
            freshness.staleness <= grace, !directives.onlyIfCached
        {
            return .use(revalidating: conditional(request, entry))
        }
        let grace =
            isUsable && !control.mustRevalidate && !directives.noCache
            ? control.staleIfError ?? directives.staleIfError : nil
        return confirm(
            entry, request, directives, isOwn: isOwn,
            mayUseStale: grace.map { freshness.staleness <= $0 } ?? false)
    }

    /// What the answer to a confirming request means for the entry (RFC 9111 §4.3.3).
    ///
    /// `request` is the one that was asked for, not the confirming one.
    package static func validate(
        _ entry: CacheEntry, for request: SessionRequest, with response: SessionResponse, mayUseStale: Bool,
        requestDate: Date, responseDate: Date
    ) -> CacheValidation {
        guard response.statusCode == 304 else {
            return mayUseStale && [500, 502, 503, 504].contains(response.statusCode ?? 0)
                ? .useStale : .replaced
        }
        if let old = entry.response.value(forHeader: "etag").flatMap({ EntityTag($0) }),
            let new = response.value(forHeader: "etag").flatMap({ EntityTag($0) }), !old.matchesWeakly(new)
        {
            return .reload
        }
        return .confirmed(updated(entry, request, response, requestDate, responseDate))
    }

    /// The entry after the answer to a HEAD for its URL (RFC 9111 §4.3.5); nil if that shows it outdated.
    package static func updated(
        _ entry: CacheEntry, for request: SessionRequest, byHead response: SessionResponse, requestDate: Date,
        responseDate: Date
    ) -> CacheEntry? {
        guard response.statusCode == 200, entry.matches(request) else { return entry }
        for field in ["etag", "last-modified", "content-length"] {
            if let new = response.value(forHeader: field), new != entry.response.value(forHeader: field) {
                return nil
            }
        }
        // It says nothing about a response to another user, and must not make that this one's.
        guard entry.hasSameAuthorization(as: request) else { return entry }
        return updated(entry, request, response, requestDate, responseDate)
    }

    /// The keys whose entries the answer to a changing request makes outdated (RFC 9111 §4.4).
    package static func invalidated(by request: SessionRequest, _ response: SessionResponse) -> Set<String> {
        let safe: Set<HTTPRequest.Method> = [.get, .head, .options, .trace]
        guard !safe.contains(request.method), let status = response.statusCode, (200...399).contains(status)
        else { return [] }
        var keys: Set = [CacheEntry.key(for: request)]
        for field in ["location", "content-location"] {
            // A server may not empty the cache of another origin.
            if let text = response.value(forHeader: field),
                let url = URIReference(text)?.resolved(against: request.url), let origin = Origin(url),
                origin == Origin(request.url)
            {
                keys.insert(CacheEntry.key(for: url, as: request))
            }
        }
        return keys
    }

    private static func decisionWithoutEntry(
        _ policy: CachePolicy, _ directives: CacheControl, _ request: SessionRequest
    ) -> CacheDecision {
        guard policy == .returnCacheDataDontLoad || directives.onlyIfCached else { return .load }
        return .unavailable(
            SessionError(
                .resourceUnavailable,
                "the cache has no response that could be used, and the network must not be asked",
                failingURL: request.url))
    }

    /// Whether it may be used without asking (RFC 9111 §4.2, §5.2.1).
    private static func isAcceptable(
        _ freshness: CacheFreshness, _ control: CacheControl, _ directives: CacheControl
    ) -> Bool {
        if control.isImmutable, freshness.isFresh, directives.minFresh == nil, !directives.noCache {
            return true
        }
        if directives.noCache { return false }
        if let limit = directives.maxAge, freshness.age > limit { return false }
        if let rest = directives.minFresh, freshness.lifetime - freshness.age < rest { return false }
        if freshness.isFresh { return true }
        guard !control.mustRevalidate, let tolerance = directives.maxStale else { return false }
        return freshness.staleness <= tolerance
    }

    private static func confirm(
        _ entry: CacheEntry, _ request: SessionRequest, _ directives: CacheControl, isOwn: Bool,
        mayUseStale: Bool
    ) -> CacheDecision {
        if directives.onlyIfCached {
            return decisionWithoutEntry(.returnCacheDataDontLoad, directives, request)
        }
        if !isOwn {
            // Only a strong tag proves these bytes the answer to this request too (RFC 9110 §8.8.1, §13.1.3).
            guard let text = entry.response.value(forHeader: "etag"), EntityTag(text)?.isWeak == false else {
                return .load
            }
            var conditional = request
            conditional.headerFields[.ifNoneMatch] = text
            return .revalidate(conditional, mayUseStale: false)
        }
        guard hasValidator(entry.response) || mayUseStale else { return .load }
        return .revalidate(conditional(request, entry), mayUseStale: mayUseStale)
    }

    /// The request with the conditions that confirm an entry (RFC 9111 §4.3.1), if it has a validator.
    private static func conditional(_ request: SessionRequest, _ entry: CacheEntry) -> SessionRequest {
        var request = request
        request.headerFields[.ifNoneMatch] = entry.response.value(forHeader: "etag")
        request.headerFields[.ifModifiedSince] = entry.response.value(forHeader: "last-modified")
        return request
    }

    private static func hasValidator(_ response: SessionResponse) -> Bool {
        response.value(forHeader: "etag") != nil || response.value(forHeader: "last-modified") != nil
    }

    private static func isExplicit(_ response: SessionResponse, _ control: CacheControl) -> Bool {
        control.maxAge != nil || response.value(forHeader: "expires") != nil
    }

    /// Whether the caller asks for a part or under own conditions: the answer is for the caller alone.
    private static func isConditional(_ request: SessionRequest) -> Bool {
        let names = [
            "range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range",
        ]
        return request.headerFields.contains { names.contains($0.name.canonicalName) }
    }

    /// The entry with the newer fields (RFC 9111 §3.2); what describes the stored bytes stays.
    private static func updated(
        _ entry: CacheEntry, _ request: SessionRequest, _ response: SessionResponse, _ requestDate: Date,
        _ responseDate: Date
    ) -> CacheEntry {
        let old = entry.response
        let kept: Set<String> = ["content-length", "content-encoding", "content-type", "content-range"]
        let news = response.headerFields.filter { !kept.contains($0.name.canonicalName) }
        let names = Set(news.map(\.name.canonicalName)).union(["age"])
        var fields = old.headerFields
        fields.removeAll { names.contains($0.name.canonicalName) }
        fields.append(contentsOf: news)
        return CacheEntry(
            request: request,
            response: SessionResponse(
                url: old.url, statusCode: old.statusCode, version: old.version, headerFields: fields),
            requestDate: requestDate, responseDate: responseDate, contentLength: entry.contentLength)
    }
}

extension CacheEntry {
    /// The stored response as it is handed out: at the URL that was asked for, with its age (RFC 9111 §5.1).
    package func response(to request: SessionRequest, at now: Date) -> SessionResponse {
        var fields = response.headerFields
        fields[.age] = "\(min(max(CacheFreshness(self, at: now).age, 0), 1 << 31))"
        return SessionResponse(
            url: request.url, statusCode: response.statusCode, version: response.version,
            headerFields: fields)
    }
}

/// What a request may have from the cache.
package enum CacheDecision: Sendable {
    /// Nothing: it goes to the network as it is.
    case load
    /// The stored response; if stale, with a request that confirms it meanwhile.
    case use(revalidating: SessionRequest?)
    /// The stored response once this request has confirmed it; with `mayUseStale`, also if the server fails.
    case revalidate(SessionRequest, mayUseStale: Bool)
    /// Nothing, and the network must not be asked: the task fails.
    case unavailable(SessionError)
}

/// What the answer to a confirming request means.
package enum CacheValidation: Sendable {
    /// The stored content is still good; this entry takes the place of the old one.
    case confirmed(CacheEntry)
    /// The stored response may be used although the server failed.
    case useStale
    /// The answer is a new response.
    case replaced
    /// The answer is of no use: ask again without conditions.
    case reload
}
