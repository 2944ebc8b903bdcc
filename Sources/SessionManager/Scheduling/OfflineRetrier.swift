// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes
public import Reachability
public import ReachabilityCore
public import SessionCore

/// Waits after a failure that the network explains until it can be reached, and tries the request again;
/// Alamofire's.
///
/// A queue that follows a provider holds requests before they fail (``RequestQueue``), so this is for
/// managers that follow none, and for failures of the first moments, when the status is still `unknown`.
///
///     manager.interceptor = Interceptor(retriers: [OfflineRetrier()])
public struct OfflineRetrier: RequestRetrier {
    /// Reports when the network is back.
    public let provider: any ReachabilityProvider
    /// How long it is waited for at most; 5 s.
    public var limit: Duration
    /// How often a request is tried again; 3.
    ///
    /// A server that refuses while the network is good would be asked for ever.
    public var retryLimit = 3
    /// The failures that the network may be the reason of.
    public var errorCodes = Self.connectionFailures
    /// The methods of requests that are sent again where the server may have got them already (RFC 9110
    /// §9.2.2).
    public var methods: Set<HTTPRequest.Method> = [.delete, .get, .head, .options, .put, .trace]

    /// No network, no such host, no connection, or a connection that broke.
    public static let connectionFailures: Set<SessionError.Code> = [
        .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost,
    ]

    /// A retrier; the shared reachability manager has to be started by the program.
    public init(
        provider: any ReachabilityProvider = ReachabilityManager.shared, limit: Duration = .seconds(5)
    ) {
        self.provider = provider
        self.limit = limit
    }

    /// Again once the network can be reached, and not where it takes too long: the task fails with its error
    /// then.
    public func retry(
        _ request: SessionRequest, state: RequestState, after error: any Error
    ) async -> RetryDecision {
        // What runs on this machine waits for no network.
        guard !request.url.isOnThisMachine, state.retryCount < retryLimit, state.response == nil,
            request.body?.isRewindable ?? true,
            let failure = SessionError.chain(of: error).first(where: { errorCodes.contains($0.code) }),
            // Behind a redirect the server that has led there has carried it out.
            failure.code != .networkConnectionLost && state.redirectedRequest == nil
                || methods.contains(request.method)
        else { return .doNotRetry }
        return await isReachable() ? .retry : .doNotRetry
    }

    /// Whether the provider says so within the limit.
    private func isReachable() async -> Bool {
        let answer = Future<Bool>()
        let observation = provider.observeReachability { update in
            if update.status.isReachable, update.path.isOnline { answer.fulfil(true) }
        }
        defer { observation.cancel() }
        let alarm = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            answer.fulfil(false)
        }
        defer { alarm.cancel() }
        return await withTaskCancellationHandler {
            await answer.value
        } onCancel: {
            answer.fulfil(false)
        }
    }
}
