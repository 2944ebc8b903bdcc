// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// The response cache of a manager, and who has the last word about what is stored in it.
final class CacheAccess: Sendable {
    let cache: DiskResponseCache
    let handler: (any CachedResponseHandler)?

    init(_ cache: DiskResponseCache, handler: (any CachedResponseHandler)?) {
        self.cache = cache
        self.handler = handler
    }

    /// The same cache, where a task's own handler has the last word.
    func with(_ handler: (any CachedResponseHandler)?) -> CacheAccess {
        handler.map { CacheAccess(cache, handler: $0) } ?? self
    }
}

/// What a task has to do with the response cache; on the loop's thread.
///
/// One for each request that is a new one to the cache: the first, one after a redirect, and another try.
final class TaskCache {
    let access: CacheAccess
    /// What is stored and has to be confirmed before it is used.
    var stored: StoredResponse?
    /// Whether that may be used where the server fails.
    var mayUseStale = false
    /// Whether the request has conditions that nobody but the cache wants.
    var isConditional = false
    /// What the server says of the stored response.
    var verdict: CacheValidation?
    /// Whether the stored response has been given up for the one that comes.
    var isReplaced = false
    /// Whether the response is out of the cache.
    var isServed = false
    var requestDate = Date.distantPast
    private(set) var responseDate = Date.distantPast

    init(_ access: CacheAccess) { self.access = access }

    /// The request as it was before the cache added its conditions.
    func unconditional(_ request: SessionRequest) -> SessionRequest {
        guard isConditional else { return request }
        var request = request
        request.headerFields[.ifNoneMatch] = nil
        request.headerFields[.ifModifiedSince] = nil
        return request
    }

    /// The head of a response has come; true where its content is of no use to anybody.
    func received(_ head: SessionResponse, for request: SessionRequest) -> Bool {
        responseDate = Date()
        access.cache.remove(keys: CacheRules.invalidated(by: request, head))
        // The question whether it is still good comes once more, with credentials.
        guard let stored, head.statusCode != 401, head.statusCode != 407 else { return false }
        let validation = CacheRules.validate(
            stored.entry, for: unconditional(request), with: head, mayUseStale: mayUseStale,
            requestDate: requestDate, responseDate: responseDate)
        if case .replaced = validation {
            self.stored = nil
            isReplaced = true
            return false
        }
        verdict = validation
        return true
    }

    /// Whether an error means that the server cannot be reached (RFC 5861 §4).
    static func isOutage(_ error: SessionError) -> Bool {
        let codes: [SessionError.Code] = [
            .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .notConnectedToInternet, .timedOut,
        ]
        return codes.contains(error.code)
    }
}
