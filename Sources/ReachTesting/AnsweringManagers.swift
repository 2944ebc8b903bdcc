// SPDX-License-Identifier: Apache-2.0

import EventLoop
public import Reachability
public import SessionCore
public import SessionManager

extension URLSessionManager {
    /// A manager whose requests a test answers: no socket, no libcurl, and all above them as it is.
    ///
    ///     let manager = URLSessionManager { request in .json(["id": 1], status: 201) }
    ///
    /// An error that `answering` throws fails the request: a ``SessionCore/SessionError`` as it is, others
    /// underneath one. How servers are judged, proxies and interfaces have no meaning here.
    ///
    /// - Parameters:
    ///   - queue: when tasks start, and which network they follow; nil starts them at once.
    ///   - clock: a clock in whose time the manager lives; nil for real time.
    ///   - answering: called with each request when all of it has been sent; calls may overlap.
    public convenience init(
        queue: RequestQueue.Settings? = nil, clock: ManualClock? = nil,
        configuration: SessionConfiguration = SessionConfiguration(),
        responseSerializer: any ResponseSerializer = JSONResponseSerializer(),
        completionQueue: DeliveryQueue = .own, answering: @escaping Answering
    ) {
        var settings = RequestQueue.Settings()
        settings.follows = .none
        self.init(
            settings: Settings(
                configuration: configuration, responseSerializer: responseSerializer,
                queue: queue ?? settings),
            completionQueue: completionQueue, on: clock?.reactor() ?? Self.sharedReactor
        ) { reactor, configuration in
            AnsweredTransfers(reactor: reactor, configuration: configuration, answering: answering)
        }
    }

    /// A manager whose requests a test answers while a scripted network permits.
    ///
    /// - Parameters:
    ///   - network: what the queue follows.
    ///   - clock: a clock in whose time the manager lives; nil for real time.
    ///   - answering: called with each request when all of it has been sent; calls may overlap.
    public convenience init(
        network: ScriptedNetwork, clock: ManualClock? = nil, answering: @escaping Answering
    ) {
        var settings = RequestQueue.Settings()
        settings.follows = .provider(network)
        self.init(queue: settings, clock: clock, answering: answering)
    }
}

extension HTTPSessionManager {
    /// A manager whose requests a test answers: no socket, no libcurl, and all above them as it is.
    ///
    ///     let api = try HTTPSessionManager(baseURL: "https://api.example.com/v1") { request in
    ///         .json(["id": 1], status: 201)
    ///     }
    ///
    /// The parameters are those of the initializer of `URLSessionManager` that has `answering`.
    ///
    /// - Throws: ``SessionCore/SessionError/Code/badURL`` where the base is no http or https URL.
    public convenience init(
        baseURL: String? = nil, queue: RequestQueue.Settings? = nil, clock: ManualClock? = nil,
        configuration: SessionConfiguration = SessionConfiguration(), completionQueue: DeliveryQueue = .own,
        answering: @escaping Answering
    ) throws(SessionError) {
        try self.init(
            baseURL: baseURL,
            urlSessionManager: URLSessionManager(
                queue: queue, clock: clock, configuration: configuration, completionQueue: completionQueue,
                answering: answering))
    }

    /// A manager whose requests a test answers while a scripted network permits.
    ///
    /// - Throws: ``SessionCore/SessionError/Code/badURL`` where the base is no http or https URL.
    public convenience init(
        baseURL: String? = nil, network: ScriptedNetwork, clock: ManualClock? = nil,
        answering: @escaping Answering
    ) throws(SessionError) {
        try self.init(
            baseURL: baseURL,
            urlSessionManager: URLSessionManager(network: network, clock: clock, answering: answering))
    }
}
