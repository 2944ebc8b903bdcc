// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// The conditions that a serializer puts into requests: only those that were set, even to their default.
public struct RequestOptionChanges: Sendable, Equatable, Codable, Configurable {
    /// Replaces ``RequestOptions/timeoutInterval``.
    public var timeoutInterval: Duration?
    /// Replaces ``RequestTimeouts/connect``.
    public var connectTimeout: Duration?
    /// Replaces ``RequestTimeouts/firstByte``.
    public var firstByteTimeout: Duration?
    /// Replaces ``RequestTimeouts/total``.
    public var totalTimeout: Duration?
    /// Replaces ``RequestOptions/cachePolicy``.
    public var cachePolicy: CachePolicy?
    /// Replaces ``RequestOptions/allowsExpensiveNetwork``.
    public var allowsExpensiveNetwork: Bool?
    /// Replaces ``RequestOptions/allowsConstrainedNetwork``.
    public var allowsConstrainedNetwork: Bool?
    /// Replaces ``RequestOptions/handlesCookies``.
    public var handlesCookies: Bool?
    /// Replaces ``RequestOptions/networkServiceType``.
    public var networkServiceType: NetworkServiceType?
    /// Replaces ``RequestOptions/interface``.
    public var interface: String?
    /// Replaces ``RequestOptions/decompressesContent``.
    public var decompressesContent: Bool?
    /// Replaces ``RequestOptions/maximumContentLength``.
    public var maximumContentLength: Int64?
    /// Replaces ``RequestOptions/maximumHTTPVersion``.
    public var maximumHTTPVersion: HTTPVersion?
    /// Replaces ``RequestOptions/continueTimeout``.
    public var continueTimeout: Duration?
    /// Replaces ``RequestOptions/maximumBytesPerSecond``.
    public var maximumBytesPerSecond: Int64?
    /// Replaces ``RequestOptions/maximumUploadBytesPerSecond``.
    public var maximumUploadBytesPerSecond: Int64?
    /// Names that are added to ``RequestOptions/sensitiveFields``.
    public var sensitiveFields: [String]?

    /// No change.
    public init() {}

    /// Whether nothing has been set.
    var isEmpty: Bool { self == RequestOptionChanges() }

    /// Puts what has been set into a request's options.
    public func apply(to options: inout RequestOptions) {
        if let timeoutInterval { options.timeoutInterval = timeoutInterval }
        if let connectTimeout { options.timeouts.connect = connectTimeout }
        if let firstByteTimeout { options.timeouts.firstByte = firstByteTimeout }
        if let totalTimeout { options.timeouts.total = totalTimeout }
        if let cachePolicy { options.cachePolicy = cachePolicy }
        if let allowsExpensiveNetwork { options.allowsExpensiveNetwork = allowsExpensiveNetwork }
        if let allowsConstrainedNetwork { options.allowsConstrainedNetwork = allowsConstrainedNetwork }
        if let handlesCookies { options.handlesCookies = handlesCookies }
        if let networkServiceType { options.networkServiceType = networkServiceType }
        if let interface { options.interface = interface }
        if let decompressesContent { options.decompressesContent = decompressesContent }
        if let maximumContentLength { options.maximumContentLength = maximumContentLength }
        if let maximumHTTPVersion { options.maximumHTTPVersion = maximumHTTPVersion }
        if let maximumBytesPerSecond { options.maximumBytesPerSecond = maximumBytesPerSecond }
        if let maximumUploadBytesPerSecond {
            options.maximumUploadBytesPerSecond = maximumUploadBytesPerSecond
        }
        if let continueTimeout { options.continueTimeout = continueTimeout }
        if let sensitiveFields {
            options.sensitiveFields += sensitiveFields.compactMap { HTTPField.Name($0) }
        }
    }
}
