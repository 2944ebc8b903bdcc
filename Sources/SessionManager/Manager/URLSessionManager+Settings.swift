// SPDX-License-Identifier: Apache-2.0

package import EventLoop
public import Reachability
public import SessionCore

extension URLSessionManager {
    /// What a manager is made of and can be written down: no closure, queue, delegate, interceptor or cache.
    ///
    /// Key files are named, not contained; what the serializers send by default is, credentials too.
    public struct Settings: Sendable {
        /// What all sessions have in common.
        public var configuration: SessionConfiguration
        /// How servers are judged.
        public var securityPolicy: SecurityPolicy
        /// Makes objects of content.
        public var responseSerializer: any ResponseSerializer
        /// When tasks start, and which network they follow.
        public var queue: RequestQueue.Settings

        /// Settings.
        public init(
            configuration: SessionConfiguration = SessionConfiguration(),
            securityPolicy: SecurityPolicy = .default,
            responseSerializer: any ResponseSerializer = JSONResponseSerializer(),
            queue: RequestQueue.Settings = RequestQueue.Settings()
        ) {
            self.queue = queue
            self.configuration = configuration
            self.securityPolicy = securityPolicy
            self.responseSerializer = responseSerializer
        }
    }

    /// The loop that managers share; an error where it has no thread.
    package static var sharedReactor: Result<Reactor, SessionError> {
        do throws(ReactorError) {
            return .success(try Reactor.shared)
        } catch {
            return .failure(
                SessionError(
                    .outOfResources, "no thread for transfers can be started: \(error)",
                    advice: "raise the limits of open files and threads (ulimit -n, ulimit -u)"))
        }
    }

    /// What a manager like this one is made of.
    public var settings: Settings {
        Settings(
            configuration: configuration, securityPolicy: securityPolicy,
            responseSerializer: responseSerializer, queue: queue.settings)
    }

    /// A manager that was written down.
    public convenience init(settings: Settings, completionQueue: DeliveryQueue = .own) {
        self.init(
            configuration: settings.configuration, securityPolicy: settings.securityPolicy,
            responseSerializer: settings.responseSerializer, completionQueue: completionQueue,
            queue: settings.queue)
    }

    /// Another manager with the same ``settings-swift.property``, and connections and a session of its own.
    ///
    /// It uses the same ``cache`` and ``hsts``. Delegate, interceptor, handlers and completion queue are not
    /// copied.
    public func copy() -> URLSessionManager {
        let copy =
            makeCarrier.map { URLSessionManager(settings: settings, on: reactor, carriedBy: $0) }
            ?? URLSessionManager(settings: settings)
        copy.cache = cache
        copy.strictTransport = strictTransport
        return copy
    }
}

extension URLSessionManager.Settings: Codable {
    private enum CodingKeys: String, CodingKey {
        case configuration, securityPolicy, responseSerializer, queue
    }

    /// Reads what ``encode(to:)`` wrote.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            configuration: try values.decode(SessionConfiguration.self, forKey: .configuration),
            securityPolicy: try values.decode(SecurityPolicy.self, forKey: .securityPolicy),
            responseSerializer: try values.decode(StoredResponseSerializer.self, forKey: .responseSerializer)
                .serializer,
            // Absent in what was written before there were queues.
            queue: try values.decodeIfPresent(RequestQueue.Settings.self, forKey: .queue)
                ?? RequestQueue.Settings())
    }

    /// Writes them.
    ///
    /// - Throws: `EncodingError` where the serializer is not of this library, since its type could not be
    ///   found again, and where the queue follows a provider of one's own.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(configuration, forKey: .configuration)
        try values.encode(securityPolicy, forKey: .securityPolicy)
        let stored = try StoredResponseSerializer(
            responseSerializer, at: values.codingPath + [CodingKeys.responseSerializer])
        try values.encode(stored, forKey: .responseSerializer)
        try values.encode(queue, forKey: .queue)
    }
}
