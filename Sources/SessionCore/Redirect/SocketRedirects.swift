// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes

/// How redirects of a server behind a socket of this machine are followed: on that socket alone.
///
/// The server knows itself by the host that the request names, so its absolute targets with that host are its
/// own. It sends no program elsewhere: it cannot know whether that may use a network.
package enum SocketRedirects {
    /// What follows from a response; the parameters are those of
    /// ``RedirectRules/decide(_:response:hops:)``.
    package static func decide(
        _ request: SessionRequest, _ response: SessionResponse, hops: Int, _ rules: RedirectRules
    ) -> RedirectDecision {
        let socket = SocketURL(request.url.absoluteString)
        var seen = request
        if let socket { seen.url = seenURL(socket, request) }
        switch rules.decide(seen, response: response, hops: hops) {
        case .notARedirect: return .notARedirect
        case .failure(let error): return .failure(error.with(failingURL: request.url))
        case .follow(var next):
            guard Origin(next.url) == Origin(seen.url) else { return refusal(next.url, request, response) }
            if let socket { next.url = socket.url(seenAs: next.url) ?? request.url }
            return .follow(next)
        }
    }

    /// The URL of a request as its server sees it.
    private static func seenURL(_ socket: SocketURL, _ request: SessionRequest) -> URL {
        let host = request.headerFields.first { $0.name.canonicalName == "host" }?.value ?? ""
        let named =
            host.isEmpty ? nil : URL(string: socket.address(host: host), encodingInvalidCharacters: false)
        return named.flatMap { $0.isSpoken ? $0 : nil }
            ?? URL(string: socket.address(), encodingInvalidCharacters: false) ?? request.url
    }

    private static func refusal(
        _ target: URL, _ request: SessionRequest, _ response: SessionResponse
    ) -> RedirectDecision {
        .failure(
            SessionError(
                .unsupportedURL,
                "the server behind a socket of this machine redirects to \(TextQuote(target.textWithoutUser))",
                advice:
                    "make a request for that of its own where it is meant: redirects do not leave a socket",
                failingURL: request.url, response: response))
    }
}
