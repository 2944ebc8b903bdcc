// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

// Requests that the cache may answer.
extension RequestSteps {
    /// Asks the cache first, where there is one.
    func useCacheOrSend() -> NextStep {
        forgetTransfer()
        cache = task.plan.cache.map { CacheFlow($0) }
        if let lookup = cache?.lookup(chain, isUnreadable: isStoredUnreadable) {
            return .ask(AsyncStep(lookup) { $0.begin(with: $1) })
        }
        return CacheFlow.refusal(of: chain).map { .end($0) } ?? .exchange
    }

    private func begin(with stored: StoredResponse?) -> NextStep {
        guard let cache else { return .exchange }
        let (beginning, isStale) = cache.begin(chain.request, stored)
        switch beginning {
        case .use(let stored, let response):
            if isStale { confirm() }
            return deliver(stored, response)
        case .send(let conditional):
            if let conditional { chain.request = conditional }
            return .exchange
        case .fail(let error): return .end(error)
        }
    }

    /// Has a task of its own ask whether a stale response that is used is still good.
    private func confirm() {
        let other = CacheFlow.confirmation(of: chain)
        if task.session.adopt(other, isResumedNext: true) { other.resume() }
    }

    /// The stored response, after the server's answer or failure.
    func useStored() -> NextStep {
        let isSecret = authentication?.libraryCredentials != nil
        guard let (stored, response) = cache?.storedToUse(chain.request, isSecret: isSecret) else {
            return .nothing
        }
        return deliver(stored, response)
    }

    /// The request without the cache's conditions, after the server has given up what is stored.
    func reload() -> NextStep {
        if let cache { chain.request = cache.reload(chain.request) }
        return .exchange
    }

    /// Completes the task with a stored response.
    private func deliver(_ stored: StoredResponse, _ response: SessionResponse) -> NextStep {
        if let cache {
            cache.serve()
            chain.request = cache.unconditional(chain.request)
        }
        forgetTransfer()
        forgetExchange()
        task.setResponse(response)
        task.publish(.usedCache(response))
        guard let delegate = task.plan.delegate else { return hand(stored.data, response) }
        let task = task
        return .ask(
            AsyncStep {
                await delegate.task(task, didReceive: response)
            } then: { steps, answer in
                switch answer {
                case .allow: break
                case .cancel: return .end(task.cancelledError)
                case .becomeDownload: steps.content.becomeDownload(task)
                }
                return steps.hand(stored.data, response)
            })
    }

    private func hand(_ data: Data, _ response: SessionResponse) -> NextStep {
        do throws(SessionError) {
            try content.deliver(data, response, chain, &resumption, engine)
            return .finish(response)
        } catch {
            return .end(error.with(failingURL: chain.request.url, response: response))
        }
    }
}
