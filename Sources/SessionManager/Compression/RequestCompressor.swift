// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
import HTTPTypes
public import SessionCore

/// Compresses the bodies of requests, and says so in `Content-Encoding`.
///
///     manager.interceptor = Interceptor(adapters: [RequestCompressor(.gzip) { $0.count > 1024 }])
///
/// Only bodies in memory are compressed: files and streams are sent as they are, since neither their length
/// nor the way back to their beginning would survive. HTTP has no way to ask whether a server understands
/// this (RFC 9110 §12.5.3 speaks of responses): use it where you know.
public struct RequestCompressor: RequestInterceptor {
    /// What becomes of a request that has a `Content-Encoding` already.
    public enum ExistingField: String, Sendable, Codable, CaseIterable {
        /// The task fails.
        case error
        /// The body is compressed, and the field has the new name alone.
        case replace
        /// The request is sent as it is.
        case skip
    }

    /// How.
    public let compression: ContentCompression
    /// 1 (fast) to 9 (small).
    public let level: Int
    /// What becomes of a request that has a `Content-Encoding` already.
    public let existingField: ExistingField
    private let shouldCompress: @Sendable (Data) -> Bool

    /// A compressor.
    ///
    /// - Parameter shouldCompress: asked about each body; small ones and compressed ones grow.
    public init(
        _ compression: ContentCompression = .gzip, level: Int = 6, existingField: ExistingField = .error,
        shouldCompress: @escaping @Sendable (Data) -> Bool = { _ in true }
    ) {
        self.compression = compression
        self.level = level
        self.existingField = existingField
        self.shouldCompress = shouldCompress
    }

    /// The request with a compressed body.
    ///
    /// - Throws: ``SessionError/Code/invalidHeaderField`` for a field that is there already, where that is to
    ///   be an error; otherwise as ``ContentCompression/compress(_:level:)``.
    public func adapt(
        _ request: SessionRequest, state: RequestState
    ) async throws -> SessionRequest { try compressed(request) }

    private func compressed(_ request: SessionRequest) throws(SessionError) -> SessionRequest {
        guard case .data(let data) = request.body, !data.isEmpty else { return request }
        if let existing = request.headerFields[.contentEncoding] {
            switch existingField {
            case .skip: return request
            case .replace: break
            case .error:
                throw SessionError(
                    .invalidHeaderField, "the request has a Content-Encoding already: \(TextQuote(existing))",
                    advice: "compress it in one place, or choose to replace or skip",
                    domain: .requestSerialization, failingURL: request.url)
            }
        }
        guard shouldCompress(data) else { return request }
        var request = request
        request.body = .data(try compression.compress(data, level: level))
        request.headerFields[.contentEncoding] = compression.rawValue
        return request
    }
}
