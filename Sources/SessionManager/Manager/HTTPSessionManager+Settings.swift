// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import Reachability
public import SessionCore

extension HTTPSessionManager {
    /// What a manager is made of and can be written down: no closure, queue, delegate, interceptor or cache.
    public struct Settings: Sendable {
        /// What relative addresses are resolved against; nil where addresses are absolute.
        public var baseURL: String?
        /// Puts parameters into requests.
        public var requestSerializer: any RequestSerializer
        /// What tasks have in common.
        public var session: URLSessionManager.Settings

        /// Settings.
        public init(
            baseURL: String? = nil, requestSerializer: any RequestSerializer = HTTPRequestSerializer(),
            session: URLSessionManager.Settings = URLSessionManager.Settings()
        ) {
            self.baseURL = baseURL
            self.requestSerializer = requestSerializer
            self.session = session
        }
    }

    /// What a manager like this one is made of.
    public var settings: Settings {
        Settings(
            baseURL: baseURL?.absoluteString, requestSerializer: requestSerializer,
            session: urlSessionManager.settings)
    }

    /// A manager that was written down.
    ///
    /// - Throws: ``SessionError/Code/badURL`` or ``SessionError/Code/invalidSecurityPolicy`` for settings.
    public convenience init(settings: Settings, completionQueue: DeliveryQueue = .own) throws(SessionError) {
        try self.init(
            baseURL: settings.baseURL, configuration: settings.session.configuration,
            securityPolicy: settings.session.securityPolicy, completionQueue: completionQueue,
            queue: settings.session.queue)
        requestSerializer = settings.requestSerializer
        responseSerializer = settings.session.responseSerializer
    }

    /// Another manager with the same ``settings-swift.property``, and connections and a session of its own.
    ///
    /// ``cache``, ``hsts``, ``encoder`` and ``decoder`` are shared, ``defaultHeaders`` and
    /// ``timeoutInterval`` copied; delegate, interceptor and queue are not.
    ///
    /// - Throws: nothing for the settings of a manager that could be made.
    public func copy() throws(SessionError) -> HTTPSessionManager {
        let copy = try HTTPSessionManager(settings: settings)
        copy.cache = cache
        copy.urlSessionManager.strictTransport = urlSessionManager.strictTransport
        copy.encoder = encoder
        copy.decoder = decoder
        copy.defaultHeaders = defaultHeaders
        copy.timeoutInterval = timeoutInterval
        return copy
    }
}

extension HTTPSessionManager.Settings: Codable {
    private enum CodingKeys: String, CodingKey { case baseURL, requestSerializer, session }

    /// Reads what ``encode(to:)`` wrote.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            baseURL: try values.decodeIfPresent(String.self, forKey: .baseURL),
            requestSerializer: try values.decode(StoredRequestSerializer.self, forKey: .requestSerializer)
                .serializer,
            session: try values.decode(URLSessionManager.Settings.self, forKey: .session))
    }

    /// Writes them.
    ///
    /// - Throws: `EncodingError` for a serializer of another library: its type could not be found again.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(baseURL, forKey: .baseURL)
        let stored = try StoredRequestSerializer(
            requestSerializer, at: values.codingPath + [CodingKeys.requestSerializer])
        try values.encode(stored, forKey: .requestSerializer)
        try values.encode(session, forKey: .session)
    }
}
