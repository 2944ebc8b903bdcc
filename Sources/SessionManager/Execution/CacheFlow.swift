// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore

/// What one request has to do with the response cache; on the loop's thread.
///
/// One for each request that is new to the cache: the first of a try, and those that redirects lead to.
final class CacheFlow {
    private let access: CacheAccess
    /// The stored response that the server is asked to confirm.
    private var stored: StoredResponse?
    /// Whether it may be used where the server fails.
    private var mayUseStale = false
    /// Whether the request has conditions that the cache has added.
    private var isConditional = false
    /// What the server says of the stored response.
    private var verdict: CacheValidation?
    /// Whether the stored response has been given up for the one that comes.
    private var isReplaced = false
    /// Whether the response is out of the cache.
    private(set) var isServed = false
    private var requestDate = Date.distantPast
    private var responseDate = Date.distantPast

    init(_ access: CacheAccess) { self.access = access }

    // MARK: Before an exchange

    /// What is stored for the request; nil where the cache is not to be asked.
    ///
    /// - Parameter isUnreadable: the stored response could not be decoded, and another one is wanted.
    func lookup(_ chain: RequestChain, isUnreadable: Bool) -> (@Sendable () async -> StoredResponse?)? {
        let (request, cache, policy) = (chain.request, access.cache, chain.options.cachePolicy)
        guard chain.task.plan.stream == nil, request.method == .get,
            policy != .reloadIgnoringLocalCacheData,
            !(isUnreadable && policy != .returnCacheDataDontLoad)
        else { return nil }
        return { await cache.lookup(request) }
    }

    /// What is done first where nothing was looked up.
    static func begin(_ chain: RequestChain) -> NextStep {
        guard chain.options.cachePolicy == .returnCacheDataDontLoad,
            case .unavailable(let error) = CacheRules.decide(chain.request, entry: nil, at: Date())
        else { return .exchange }
        return .finishFailed(error)
    }

    /// What is done first, with what is stored: it is used, or the network is asked whether it is still good.
    func begin(_ chain: RequestChain, with stored: StoredResponse?) -> NextStep {
        let (request, now) = (chain.request, Date())
        switch (CacheRules.decide(request, entry: stored?.entry, at: now), stored) {
        case (.use(let confirming), let stored?):
            let response = stored.entry.response(to: request, at: now)
            return .useStored(stored, response, isStale: confirming != nil)
        case (.revalidate(let conditional, let mayUseStale), let stored?):
            self.stored = stored
            self.mayUseStale = mayUseStale
            isConditional = true
            chain.request = conditional
            return .exchange
        case (.unavailable(let error), _): return .finishFailed(error)
        case (.load, _), (.use, nil), (.revalidate, nil): return .exchange
        }
    }

    /// A task that asks the server whether a stale response that is used is still good (RFC 5861 §3).
    static func confirmation(of chain: RequestChain) -> SessionTask {
        var again = chain.request
        again.options.cachePolicy = .reloadRevalidatingCacheData
        var plan = TaskPlan()
        plan.cache = chain.task.plan.cache
        plan.strictTransport = chain.task.plan.strictTransport
        plan.options.credential = chain.task.plan.options.credential
        plan.options.priority = 0
        return SessionTask(again, kind: .data, session: chain.task.session, plan: plan)
    }

    // MARK: During an exchange

    func exchangeBegins() { requestDate = Date() }

    /// The head of a response has come.
    ///
    /// - Returns: whether its content is of no use.
    func received(_ head: SessionResponse, for request: SessionRequest) -> Bool {
        responseDate = Date()
        access.cache.remove(keys: CacheRules.invalidated(by: request, head))
        // The question whether it is still good is asked once more, with credentials.
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

    /// The request without the conditions that the cache has added.
    func unconditional(_ request: SessionRequest) -> SessionRequest {
        guard isConditional else { return request }
        var request = request
        request.headerFields[.ifNoneMatch] = nil
        request.headerFields[.ifModifiedSince] = nil
        return request
    }

    // MARK: After an exchange

    /// What the end of the exchange means for the stored response.
    ///
    /// - Parameter hasResponse: a head has come before the failure.
    func validation(after failure: SessionError.Code?, hasResponse: Bool) -> ExchangeEnd.Validation {
        guard stored != nil else { return .none }
        switch verdict {
        case .confirmed, .useStale: return .useStored
        case .reload: return .reload
        case .replaced: return .none
        case nil:
            guard mayUseStale, !hasResponse, failure?.isOutage == true else { return .none }
            return .useStored
        }
    }

    /// The stored response as it is used after the server's answer or failure.
    ///
    /// - Parameter isSecret: libcurl has authenticated the request, so that its response is not stored.
    func storedToUse(_ request: SessionRequest, isSecret: Bool) -> (StoredResponse, SessionResponse)? {
        guard let stored else { return nil }
        let now = Date()
        guard case .confirmed(let entry)? = verdict.take() else {
            return (stored, stored.entry.response(to: request, at: now))
        }
        if CacheRules.isStorable(unconditional(request), entry.response, at: now), !isSecret {
            access.cache.refresh(entry)
        } else {
            access.cache.remove(keys: [stored.entry.key])
        }
        return (stored, entry.response(to: request, at: now))
    }

    /// The request that is sent again without conditions.
    func reload(_ request: SessionRequest) -> SessionRequest {
        let request = unconditional(request)
        verdict = nil
        stored = nil
        isConditional = false
        isReplaced = true
        return request
    }

    /// The stored response is the task's.
    func serve() {
        isServed = true
        stored = nil
    }

    /// What storing a response takes, where that is more than a call; nil where it is done, or the response
    /// is not stored.
    ///
    /// - Parameters:
    ///   - content: what was kept in memory; nil for a file.
    ///   - isAllowed: nothing about the exchange forbids it.
    func store(
        _ response: SessionResponse, _ content: (data: Data?, path: String?, count: Int64),
        _ chain: RequestChain, isAllowed: Bool
    ) -> (@Sendable () async -> Void)? {
        let (cache, asked) = (access.cache, unconditional(chain.request))
        if asked.method == .head { update(byHead: response, of: asked) }
        guard !isServed, asked.method == .get, chain.task.plan.stream == nil else { return nil }
        guard isAllowed, content.count <= cache.largestContent,
            CacheRules.isStorable(asked, response, at: responseDate)
        else {
            if isReplaced { cache.remove(keys: [CacheEntry.key(for: asked)]) }
            return nil
        }
        let (requestDate, responseDate) = (requestDate, responseDate)
        let store: @Sendable (CachedResponse?) -> Void = { kept in
            guard let kept else { return cache.remove(keys: [CacheEntry.key(for: asked)]) }
            cache.store(
                StoredResponse(
                    entry: CacheEntry(
                        request: asked, response: kept.response, requestDate: requestDate,
                        responseDate: responseDate, contentLength: Int64(kept.data.count)), data: kept.data))
        }
        let (path, data, handler) = (content.path, content.data, access.handler)
        guard path != nil || handler != nil else {
            store(CachedResponse(response, data: data ?? Data()))
            return nil
        }
        return {
            var content = data
            if let path { content = await FileThread.run { try? Data(contentsOf: URL(filePath: path)) } }
            guard let content else { return }
            let proposed = CachedResponse(response, data: content)
            store(handler == nil ? proposed : await handler?.store(proposed, for: asked))
        }
    }

    /// The response to a HEAD updates what is stored (RFC 9111 §4.3.5).
    private func update(byHead head: SessionResponse, of asked: SessionRequest) {
        let (cache, requestDate, responseDate) = (access.cache, requestDate, responseDate)
        var get = asked
        get.method = .get
        let request = get
        cache.lookup(request) { stored in
            guard let stored else { return }
            let entry = CacheRules.updated(
                stored.entry, for: request, byHead: head, requestDate: requestDate, responseDate: responseDate
            )
            guard let entry else { return cache.remove(keys: [stored.entry.key]) }
            if entry != stored.entry { cache.refresh(entry) }
        }
    }
}

/// The response cache of a manager, and the handler that decides what is stored in it.
final class CacheAccess: Sendable {
    let cache: DiskResponseCache
    let handler: (any CachedResponseHandler)?

    init(_ cache: DiskResponseCache, handler: (any CachedResponseHandler)?) {
        self.cache = cache
        self.handler = handler
    }

    /// The same cache with a task's own handler; nil keeps the manager's.
    func with(_ handler: (any CachedResponseHandler)?) -> CacheAccess {
        handler.map { CacheAccess(cache, handler: $0) } ?? self
    }
}
