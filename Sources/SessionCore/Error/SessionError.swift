// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Why a request could not be made, sent, answered or understood, with what lies underneath.
///
/// ``code`` has the number that Cocoa programs know (`NSURLError…`), so that their rules carry over.
public struct SessionError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public var code: Code { contents.code }
    /// The part that failed.
    public var domain: Domain { contents.domain }
    /// What happened, in a sentence without a full stop.
    public var message: String { contents.message }
    /// What to try; empty where there is no advice.
    public var advice: String { contents.advice }
    /// The URL that failed.
    public var failingURL: URL? { contents.failingURL }
    /// The head of the response, where there was one.
    public var response: SessionResponse? { contents.response }
    /// The content of the response, where there was one; at most the manager's limit for error bodies.
    public var data: Data? { contents.data }
    /// The media types that would have been acceptable, where the response had another one.
    ///
    /// What came instead is the ``SessionResponse/mimeType`` of ``response``.
    public var acceptableContentTypes: Set<MediaRange>? { contents.acceptableContentTypes }
    /// The error that led to this one.
    public var underlying: (any Error)? { contents.underlying }
    /// What libcurl said, where the failure came from it.
    public var transport: TransportFailure? { contents.transport }
    /// What to do, where that is a setting; nil where ``advice`` was given in words.
    package var remedy: SessionRemedy? { contents.remedy }

    /// Whether the task was cancelled, by ``Code/cancelled`` or as the Swift task that waited for it.
    public var isCancellation: Bool { code == .cancelled }

    private var box: SessionErrorBox
    private var contents: SessionErrorBox.Contents { _read { yield box.contents } }

    /// An error.
    public init(
        _ code: Code, _ message: String, advice: String = "", domain: Domain = .transfer,
        failingURL: URL? = nil,
        response: SessionResponse? = nil, data: Data? = nil, underlying: (any Error)? = nil,
        transport: TransportFailure? = nil, acceptableContentTypes: Set<MediaRange>? = nil
    ) {
        box = SessionErrorBox(
            SessionErrorBox.Contents(
                code: code, domain: domain, message: message, advice: advice, failingURL: failingURL,
                response: response, data: data, underlying: underlying, transport: transport,
                acceptableContentTypes: acceptableContentTypes))
    }

    /// An error whose remedy is a setting.
    package init(
        _ code: Code, _ message: String, remedy: SessionRemedy, domain: Domain = .transfer,
        failingURL: URL? = nil, response: SessionResponse? = nil, transport: TransportFailure? = nil
    ) {
        box = SessionErrorBox(
            SessionErrorBox.Contents(
                code: code, domain: domain, message: message, advice: remedy.advice, failingURL: failingURL,
                response: response, transport: transport, remedy: remedy))
    }

    /// The same error with other details.
    public func with(
        message: String? = nil, advice: String? = nil, failingURL: URL? = nil,
        response: SessionResponse? = nil, data: Data? = nil, underlying: (any Error)? = nil
    ) -> SessionError {
        var new = contents
        new.message = message ?? new.message
        new.advice = advice ?? new.advice
        new.failingURL = failingURL ?? new.failingURL
        new.response = response ?? new.response
        new.data = data ?? new.data
        new.underlying = underlying ?? new.underlying
        if advice != nil { new.remedy = nil }
        var error = self
        error.box = SessionErrorBox(new)
        return error
    }

    /// What, where, and what to try, in one line; without the URL's user and password.
    public var description: String {
        var text = message
        if let failingURL { text += " (\(failingURL.textWithoutUser))" }
        if !advice.isEmpty { text += "; \(advice)" }
        return text
    }
}

/// What an error holds; behind a reference, so that a result that may be an error stays small.
private final class SessionErrorBox: Sendable {
    struct Contents {
        var code: SessionError.Code
        var domain: SessionError.Domain
        var message: String
        var advice: String
        var failingURL: URL?
        var response: SessionResponse?
        var data: Data?
        var underlying: (any Error)?
        var transport: TransportFailure?
        var acceptableContentTypes: Set<MediaRange>?
        var remedy: SessionRemedy?
    }

    let contents: Contents

    init(_ contents: Contents) { self.contents = contents }
}

/// What libcurl reported.
public struct TransportFailure: Sendable, Equatable {
    /// The number of libcurl-errors(3).
    public let curlCode: Int32
    /// libcurl's words, with the details of this transfer.
    public let message: String
    /// The errno(3) underneath; 0 where there is none.
    public let errno: Int32

    /// Whether it is what a SOCKS proxy answered instead of connecting (CURLE_PROXY).
    package var isOfProxy: Bool { curlCode == 97 }

    /// A report.
    public init(curlCode: Int32, message: String, errno: Int32 = 0) {
        self.curlCode = curlCode
        self.message = message
        self.errno = errno
    }
}

extension SessionError {
    /// The session errors of `error` and underneath, the outermost first; empty for foreign errors.
    package static func chain(of error: any Error) -> [SessionError] {
        var chain: [SessionError] = []
        var next = error as? SessionError
        // Deep enough for all; bounds a circle of foreign errors.
        while let current = next, chain.count < 16 {
            chain.append(current)
            next = current.underlying as? SessionError
        }
        return chain
    }
    /// Puts one error under another.
    ///
    /// An outer error with something underneath stays as it is; without one the inner error is the result.
    public static func nesting(_ inner: SessionError?, in outer: SessionError?) -> SessionError? {
        guard let outer else { return inner }
        guard let inner, outer.underlying == nil else { return outer }
        return outer.with(underlying: inner)
    }

    /// Whether this error, or one underneath it, has the code and comes from the domain.
    public func contains(_ code: Code, in domain: Domain) -> Bool {
        Self.chain(of: self).contains { $0.code == code && $0.domain == domain }
    }
}
