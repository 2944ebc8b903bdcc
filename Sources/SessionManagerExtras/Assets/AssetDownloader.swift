// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import Reachability
public import SessionCore
public import SessionManager
import Synchronization

/// An asset that was asked for.
public struct LoadedAsset<Value: Sendable>: Sendable {
    /// What was made of the content.
    public var value: Value
    /// The head of the response; nil where the asset was in memory.
    public var response: SessionResponse?
}

/// What a caller that asked for an asset holds, to be able to leave.
public struct AssetReceipt: Sendable, Hashable {
    /// The caller's own, or a new one.
    public let id: UUID
    /// What was asked for.
    public let url: URL
}

/// Fetches assets such as images: each URL once, however many ask for it, and not too many at a time.
///
/// From any thread.
public final class AssetDownloader<Value: Sendable>: Sendable {
    /// Called once with the asset, or why there is none.
    public typealias Completion = @Sendable (Result<LoadedAsset<Value>, SessionError>) -> Void

    private struct State: ~Copyable {
        var machine: AssetQueueStateMachine<String, UUID>
        var completions: [UUID: Completion] = [:]
        var requests: [Int: SessionRequest] = [:]
        var tasks: [Int: SessionTask] = [:]
    }

    private let state: Mutex<State>
    private let manager: URLSessionManager
    private let cache: AutoPurgingCache<Value>?
    private let queue: DeliveryQueue
    private let decode: @Sendable (Data, SessionResponse?) -> Result<Value, SessionError>

    /// A downloader.
    ///
    /// - Parameters:
    ///   - manager: whose tasks fetch; its own serializer is not used.
    ///   - serializer: judges responses and makes the assets.
    ///   - cache: keeps them in memory; nil for none.
    ///   - order: of those that wait.
    ///   - maximumActive: how many are fetched at a time; 4.
    ///   - queue: where completions are called.
    public init(
        manager: URLSessionManager, serializer: some ResponseSerializer<Value>,
        cache: AutoPurgingCache<Value>?,
        order: AssetOrder = .firstInFirstOut, maximumActive: Int = 4, queue: DeliveryQueue = .own
    ) {
        self.manager = manager
        self.cache = cache
        self.queue = queue
        state = Mutex(State(machine: AssetQueueStateMachine(limit: maximumActive, order: order)))
        decode = { data, response in
            let result = serializer.serialize(data, response: response)
            if let error = result.error { return .failure(error) }
            if let value = result.value { return .success(value) }
            return .failure(
                SessionError(
                    .zeroByteResource, "the response has no content", domain: .responseSerialization,
                    failingURL: response?.url, response: response))
        }
    }

    /// Asks for an asset.
    ///
    /// What is in memory is taken from there, unless the request's cache policy forbids it:
    /// `reloadIgnoringLocalCacheData` and `reloadRevalidatingCacheData` ask the server.
    ///
    /// - Parameters:
    ///   - request: nil, as where a URL could not be made, fails with ``SessionError/Code/badURL``.
    ///   - id: the receipt's; a new one unless said. It must not be in use.
    /// - Returns: nil where nothing is fetched.
    @discardableResult
    public func download(
        _ request: SessionRequest?, id: UUID = UUID(), completion: @escaping Completion
    ) -> AssetReceipt? {
        guard let request else {
            let error = SessionError(.badURL, "there is no URL to fetch an asset from")
            queue.submit { completion(.failure(error)) }
            return nil
        }
        if let value = cached(request) {
            queue.submit { completion(.success(LoadedAsset(value: value, response: nil))) }
            return nil
        }
        let starting: Int? = state.withLock { state in
            state.completions[id] = completion
            switch state.machine.requested(request.url.absoluteString, by: id) {
            case .joined: return nil
            case .queued(let number):
                state.requests[number] = request
                return nil
            case .start(let number):
                state.requests[number] = request
                return number
            }
        }
        if let starting { start(starting) }
        return AssetReceipt(id: id, url: request.url)
    }

    /// The asset from memory, where it is there and the request allows it.
    public func cached(_ request: SessionRequest) -> Value? {
        switch request.options.cachePolicy {
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad:
            cache?.value(for: AssetKey(request))
        case .reloadIgnoringLocalCacheData, .reloadRevalidatingCacheData: nil
        }
    }

    /// Leaves: the completion gets ``SessionError/Code/cancelled``; the last to leave cancels the fetch.
    public func cancel(_ receipt: AssetReceipt) {
        let (completion, task): (Completion?, SessionTask?) = state.withLock { state in
            switch state.machine.left(receipt.id) {
            case .unknown: return (nil, nil)
            case .left: return (state.completions.removeValue(forKey: receipt.id), nil)
            case .abandoned(let number, _):
                state.requests[number] = nil
                return (state.completions.removeValue(forKey: receipt.id), state.tasks[number])
            }
        }
        task?.cancel()
        guard let completion else { return }
        let error = SessionError(
            .cancelled, "the download of \(receipt.url.textWithoutUser) was cancelled",
            failingURL: receipt.url)
        queue.submit { completion(.failure(error)) }
    }

    private func start(_ number: Int) {
        guard let request = state.withLock({ $0.requests[number] }) else {
            // All callers left before it began.
            return finish(number, .failure(SessionError(.cancelled, "no caller waits for it")))
        }
        do throws(SessionError) {
            let task = try manager.dataTask(with: request)
            let isWanted = state.withLock { state in
                state.tasks[number] = task
                return state.requests[number] != nil
            }
            task.observeEnd { outcome in
                // Off the thread that transfers: decoding may take long.
                Task { self.conclude(number, request, outcome) }
            }
            if isWanted { task.resume() } else { task.cancel() }
        } catch {
            // Not here: what waits behind would fail one inside the other.
            Task { finish(number, .failure(error)) }
        }
    }

    private func conclude(_ number: Int, _ request: SessionRequest, _ outcome: TaskOutcome) {
        if let error = outcome.error { return finish(number, .failure(error)) }
        let result = decode(outcome.data ?? Data(), outcome.response)
        // What all callers have left is not stored either.
        if case .success(let value) = result, state.withLock({ $0.requests[number] != nil }) {
            cache?.offer(value, for: AssetKey(request))
        }
        finish(number, result.map { LoadedAsset(value: $0, response: outcome.response) })
    }

    private func finish(_ number: Int, _ result: Result<LoadedAsset<Value>, SessionError>) {
        let (completions, start) = state.withLock { state in
            let (receipts, start) = state.machine.ended(number)
            state.requests[number] = nil
            state.tasks[number] = nil
            return (receipts.compactMap { state.completions.removeValue(forKey: $0) }, start)
        }
        for completion in completions { queue.submit { completion(result) } }
        for next in start { self.start(next) }
    }
}

/// What an asset is found by: its URL, and a word where several are made of one content.
public struct AssetKey: Sendable, Hashable {
    /// The absolute URL.
    public let url: String
    /// What was made of the content, for instance the name of a filter; nil for the content itself.
    public let identifier: String?

    /// The key of a URL.
    public init(_ url: URL, identifier: String? = nil) {
        self.url = url.absoluteString
        self.identifier = identifier
    }

    /// The key of what a request asks for.
    public init(_ request: SessionRequest, identifier: String? = nil) {
        self.init(request.url, identifier: identifier)
    }
}
