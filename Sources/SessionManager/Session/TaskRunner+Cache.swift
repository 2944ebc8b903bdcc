// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
import SessionCore

// What comes out of the response cache, and what goes into it.
extension TaskRunner {
    /// Begins with what is stored for the current request, where there is a cache and something in it.
    func exchangeOrUseCache() {
        transfer = nil
        caching = task.plan.cache.map { TaskCache($0) }
        let policy = options.cachePolicy
        let mayLoad = policy != .returnCacheDataDontLoad
        guard let caching, task.plan.stream == nil, request.method == .get,
            policy != .reloadIgnoringLocalCacheData, !(wantsAnother && mayLoad)
        else {
            // The network must not be asked, whether there is a cache or not.
            return mayLoad ? exchange() : decide(nil)
        }
        let (cache, request) = (caching.access.cache, request)
        ask {
            await cache.lookup(request)
        } then: { runner, stored in
            runner.decide(stored)
        }
    }

    private func decide(_ stored: StoredResponse?) {
        let now = Date()
        switch (CacheRules.decide(request, entry: stored?.entry, at: now), stored) {
        case (.use(let confirming), let stored?):
            if confirming != nil { confirmMeanwhile() }
            deliver(stored, stored.entry.response(to: request, at: now))
        case (.revalidate(let conditional, let mayUseStale), let stored?):
            caching?.stored = stored
            caching?.mayUseStale = mayUseStale
            caching?.isConditional = true
            request = conditional
            exchange()
        case (.unavailable(let error), _): end(error)
        case (.load, _), (.use, nil), (.revalidate, nil): exchange()
        }
    }

    /// Has a task of its own ask the server whether a stale response that is used is still good (RFC 5861 §3).
    private func confirmMeanwhile() {
        var again = request
        again.options.cachePolicy = .reloadRevalidatingCacheData
        var plan = TaskPlan()
        plan.cache = task.plan.cache
        plan.options.credential = task.plan.options.credential
        plan.options.priority = 0
        let other = SessionTask(again, kind: .data, session: task.session, plan: plan)
        if task.session.adopt(other, isResumedNext: true) { other.resume() }
    }

    /// The exchange has ended; true where the response is the stored one, or is asked for once more.
    func concludeValidation(_ caching: TaskCache, _ end: TransferEnd) -> Bool {
        guard let stored = caching.stored else { return false }
        let now = Date()
        switch caching.verdict.take() {
        case .confirmed(let entry):
            let asked = caching.unconditional(request)
            if CacheRules.isStorable(asked, entry.response, at: now), authentication?.forLibrary == nil {
                caching.access.cache.refresh(entry)
            } else {
                caching.access.cache.remove(keys: [stored.entry.key])
            }
            deliver(stored, entry.response(to: request, at: now))
        case .useStale: deliver(stored, stored.entry.response(to: request, at: now))
        case .reload:
            request = caching.unconditional(request)
            caching.stored = nil
            caching.isConditional = false
            caching.isReplaced = true
            exchange()
        case .replaced: return false
        case nil:
            guard let error = end.error, caching.mayUseStale, transfer?.response == nil,
                TaskCache.isOutage(error)
            else { return false }
            deliver(stored, stored.entry.response(to: request, at: now))
        }
        return true
    }

    /// Completes the task with a stored response.
    private func deliver(_ stored: StoredResponse, _ response: SessionResponse) {
        caching?.isServed = true
        caching?.stored = nil
        if let caching { request = caching.unconditional(request) }
        transfer = nil
        forgetExchange()
        task.note(response: response)
        task.tell(.usedCache(response))
        guard let delegate = task.plan.delegate else { return hand(stored.data, response) }
        let task = task
        ask {
            await delegate.task(task, didReceive: response)
        } then: { runner, answer in
            switch answer {
            case .allow: break
            case .cancel: return runner.end(task.cancelledError)
            case .becomeDownload: runner.becomeDownload()
            }
            runner.hand(stored.data, response)
        }
    }

    private func hand(_ data: Data, _ response: SessionResponse) {
        let count = Int64(data.count)
        do throws(SessionError) {
            let sink = try finalSink(for: response)
            try sink.begin(length: count)
            // Taken whole: neither memory nor files are ever full for a while.
            var failure: SessionError?
            data.withUnsafeBytes { bytes in
                do throws(SessionError) { _ = try sink.take(bytes) } catch { failure = error }
            }
            if let failure { throw failure }
        } catch {
            return end(error.with(failingURL: request.url, response: response))
        }
        task.note(bytes: .received, count, of: count)
        finish(response)
    }

    /// Stores the response of the last exchange, where it may be stored, and settles the task.
    func store(
        _ response: SessionResponse, _ caching: TaskCache, _ serialized: Boxed<SerializedContent>?
    ) {
        let asked = caching.unconditional(request)
        if asked.method == .head { note(head: response, of: asked, caching) }
        guard !caching.isServed, asked.method == .get, task.plan.stream == nil else {
            return settle(response, serialized)
        }
        let cache = caching.access.cache
        let count = file?.count ?? Int64(memory?.data.count ?? 0)
        // What libcurl authenticated by itself is not to be seen in the request, and could be handed to somebody else.
        guard refusedBy == nil, authentication?.forLibrary == nil, count <= cache.largestContent,
            CacheRules.isStorable(asked, response, at: caching.responseDate)
        else {
            if caching.isReplaced { cache.remove(keys: [CacheEntry.key(for: asked.url)]) }
            return settle(response, serialized)
        }
        let (requestDate, responseDate) = (caching.requestDate, caching.responseDate)
        let store: @Sendable (CachedResponse?) -> Void = { kept in
            guard let kept else { return cache.remove(keys: [CacheEntry.key(for: asked.url)]) }
            cache.store(
                StoredResponse(
                    entry: CacheEntry(
                        request: asked, response: kept.response, requestDate: requestDate,
                        responseDate: responseDate, contentLength: Int64(kept.data.count)), data: kept.data))
        }
        let (path, handler) = (file?.path, caching.access.handler)
        guard path != nil || handler != nil else {
            store(CachedResponse(response, data: memory?.data ?? Data()))
            return settle(response, serialized)
        }
        let data = memory?.data
        ask {
            var content = data
            if let path { content = await FileThread.run { try? Data(contentsOf: URL(filePath: path)) } }
            guard let content else { return }
            let proposed = CachedResponse(response, data: content)
            store(handler == nil ? proposed : await handler?.store(proposed, for: asked))
        } then: { runner, _ in
            runner.settle(response, serialized)
        }
    }

    /// The answer to a HEAD tells something about what is stored (RFC 9111 §4.3.5).
    private func note(head: SessionResponse, of asked: SessionRequest, _ caching: TaskCache) {
        let (cache, requestDate, responseDate) = (
            caching.access.cache, caching.requestDate, caching.responseDate
        )
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
