// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// A response with its content, about to be stored.
public struct CachedResponse: Sendable, Equatable {
    /// The head.
    public var response: SessionResponse
    /// The content.
    public var data: Data

    /// A response.
    public init(_ response: SessionResponse, data: Data) {
        self.response = response
        self.data = data
    }
}

/// Decides what is stored in the response cache.
///
/// One of a request wins over that of its manager. ``ResponseCacher`` has ready-made ones.
public protocol CachedResponseHandler: Sendable {
    /// What is stored: the proposed response, a changed one, or nil for nothing.
    func store(_ proposed: CachedResponse, for request: SessionRequest) async -> CachedResponse?
}

/// Responses stored, not stored, or changed before.
public struct ResponseCacher: CachedResponseHandler {
    private let change: @Sendable (CachedResponse, SessionRequest) async -> CachedResponse?

    /// Stores what may be stored.
    public static let cache = ResponseCacher { response, _ in response }
    /// Stores nothing.
    public static let doNotCache = ResponseCacher { _, _ in nil }
    /// Stores what the closure answers.
    public static func modify(
        _ change: @escaping @Sendable (CachedResponse, SessionRequest) async -> CachedResponse?
    ) -> ResponseCacher { ResponseCacher(change: change) }

    /// The proposed response, none, or what the closure answers.
    public func store(_ proposed: CachedResponse, for request: SessionRequest) async -> CachedResponse? {
        await change(proposed, request)
    }
}

extension CachedResponseHandler where Self == ResponseCacher {
    /// Stores what may be stored.
    public static var cache: ResponseCacher { .cache }
    /// Stores nothing.
    public static var doNotCache: ResponseCacher { .doNotCache }
}
