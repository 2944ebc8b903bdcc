// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
import HTTPTypes

/// How redirects are followed.
///
/// Only 301, 302, 303, 307 and 308 with a `Location` are, and only to http and https. Secrets stay with the
/// origin they were meant for: another scheme, host or port does not get them.
public struct RedirectRules: Sendable, Equatable, Codable {
    /// How many redirects a task may follow; 16.
    ///
    /// With 0 the first one fails.
    public var limit = 16
    /// Whether 301 and 302 make a GET out of a POST, as every browser does; true.
    ///
    /// RFC 9110 §15.4.2 allows both. 303 makes a GET of all but HEAD, and 307 and 308 never do.
    public var rewritesPost = true
    /// Whether a redirect from https to http is followed; true.
    ///
    /// It goes without secrets and without `Referer`. A manager whose security policy pins certificates or
    /// keys follows none.
    public var followsToInsecure = true
    /// The fields that do not follow to another origin, beside ``RequestOptions/sensitiveFields``.
    public var sensitiveFields = SensitiveFields()

    /// The rules of browsers.
    public init() {}

    /// What follows from a response.
    ///
    /// - Parameters:
    ///   - request: what was sent.
    ///   - response: its answer.
    ///   - hops: how many redirects this task has followed before.
    public func decide(_ request: SessionRequest, response: SessionResponse, hops: Int) -> RedirectDecision {
        decide(request, response: response, hops: hops) { _ in nil }
    }

    /// The same where some hosts are spoken to by https alone.
    ///
    /// - Parameter secured: the https URL that is used in place of an http URL; nil where it goes as it is.
    package func decide(
        _ request: SessionRequest, response: SessionResponse, hops: Int, secured: (URL) -> URL?
    ) -> RedirectDecision {
        guard let status = response.statusCode, [301, 302, 303, 307, 308].contains(status) else {
            return .notARedirect
        }
        let locations = response.locations
        guard let location = locations.first else { return .notARedirect }
        func failure(_ code: SessionError.Code, _ message: String, advice: String = "") -> RedirectDecision {
            .failure(SessionError(code, message, advice: advice, failingURL: request.url, response: response))
        }
        guard hops < limit else {
            return failure(
                .tooManyRedirects, "more than \(limit) redirects, the last one to \(TextQuote(location))",
                advice: "the server may send clients in a circle that lack a cookie or a login")
        }
        guard locations.allSatisfy({ $0 == location }) else {
            return failure(.badURL, "the server names \(locations.count) targets for one redirect")
        }
        guard var url = target(of: location, from: request.url) else {
            return failure(.badURL, "the server redirects to \(TextQuote(location)), which is no URL")
        }
        guard url.isWeb else {
            return failure(
                .unsupportedURL,
                "the server redirects to \(TextQuote(location)), which is neither http nor https")
        }
        if let secured = secured(url) { url = secured }
        guard let origin = Origin(url) else {
            return failure(
                .badURL, "the server redirects to \(TextQuote(location)), whose host or port cannot be")
        }
        let isDowngrade = !origin.isSecure && Origin(request.url)?.isSecure == true
        if isDowngrade && !followsToInsecure {
            return failure(
                .secureConnectionFailed,
                "the server redirects to \(TextQuote(location)), which nothing protects",
                advice: "redirects from https to http are switched off, as they always are beside pinned keys"
            )
        }
        return .follow(following(request, status: status, to: url))
    }

    /// The request that a handler of redirects answered with instead of the proposed one.
    ///
    /// What the handler sets itself is sent. Secrets of the proposal and of the sent request, which a handler
    /// may answer with, do not come along to another origin.
    ///
    /// - Parameter sent: the request whose answer is the redirect.
    /// - Throws: ``SessionError/Code/unsupportedURL`` where it leads elsewhere than to http or https.
    public func admitted(
        _ answer: SessionRequest, proposed: SessionRequest, sent: SessionRequest
    ) throws(SessionError) -> SessionRequest {
        guard let origin = Origin(answer.url) else {
            throw SessionError(
                .unsupportedURL, "the redirect was changed to what is no http or https URL",
                failingURL: answer.url)
        }
        var answer = answer
        answer.url = try answer.url.withASCIIHost
        for source in [proposed, sent] where Origin(source.url) != origin {
            answer.headerFields.removeAll {
                sensitiveFields.contains($0.name, of: sent)
                    && source.headerFields[values: $0.name].contains($0.value)
            }
        }
        return answer
    }

    /// The URL that a `Location` means (RFC 9110 §10.2.2); a missing fragment is that of the request.
    private func target(of location: String, from base: URL) -> URL? {
        guard var reference = URIReference(location) else { return nil }
        reference.inheritFragment(from: base)
        guard let url = reference.resolved(against: base) else { return nil }
        return url.inheritingUser(from: base)
    }

    private func following(
        _ request: SessionRequest, status: Int, to url: URL
    ) -> SessionRequest {
        var next = request.moved(to: url, keepingBack: sensitiveFields)
        if status == 303 || ((301...302).contains(status) && request.method == .post && rewritesPost) {
            next.method = request.method == .head ? .head : .get
            next.dropContent()
        }
        return next
    }
}

extension SessionResponse {
    /// The values of `Location`; in invalid UTF-8, bytes beyond ASCII are written as `%XX`, as browsers do.
    fileprivate var locations: [String] {
        var locations: [String] = []
        forEachField { name, value in
            guard name.equalsIgnoringCase("location".utf8) else { return }
            locations.append(
                String(validating: value, as: UTF8.self)
                    ?? value.reduce(into: "") { text, byte in
                        let digits = String(byte, radix: 16, uppercase: true)
                        text += byte < 0x80 ? String(UnicodeScalar(byte)) : "%\(digits)"
                    })
        }
        return locations
    }
}

extension SessionRequest {
    /// Leaves out the content, and the fields that describe it.
    mutating func dropContent() {
        body = nil
        headerFields.removeAll { $0.name.isAboutContent }
    }

    /// The same request for another URL: a redirect's target, or another place of the content.
    ///
    /// What is secret, or names an origin, stays with its own; `Referer` does not go from https to http.
    package func moved(to url: URL, keepingBack sensitiveFields: SensitiveFields = SensitiveFields())
        -> SessionRequest
    {
        var next = self
        next.url = url.inheritingUser(from: self.url)
        let (former, origin) = (Origin(self.url), Origin(url))
        if origin != former {
            next.headerFields.removeAll {
                sensitiveFields.contains($0.name, of: self) || $0.name.canonicalName == "host"
                    || $0.name == .origin
            }
        }
        if former?.isSecure == true, origin?.isSecure != true { next.headerFields[.referer] = nil }
        return next
    }
}

extension HTTPField.Name {
    /// Whether a field describes a body and makes no sense without one (RFC 9110 §15.4).
    fileprivate var isAboutContent: Bool {
        let name = canonicalName
        return name.hasPrefix("content-")
            || ["transfer-encoding", "expect", "trailer", "digest", "repr-digest", "last-modified"].contains(
                name)
    }
}
