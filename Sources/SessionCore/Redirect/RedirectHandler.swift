// SPDX-License-Identifier: Apache-2.0

/// Decides about each redirect.
///
/// One of a request wins over that of its manager. ``Redirector`` has ready-made ones.
public protocol RedirectHandler: Sendable {
    /// The request to send next: the proposed one, a changed one, or nil to take the redirect as the answer.
    ///
    /// - Parameters:
    ///   - proposed: what ``RedirectRules`` make of the redirect.
    ///   - request: what was sent; its secrets stay with its origin, also where it is what is answered, with
    ///     another URL.
    ///   - response: what came: status 301, 302, 303, 307 or 308.
    func redirect(
        to proposed: SessionRequest, from request: SessionRequest, response: SessionResponse
    ) async -> SessionRequest?
}

/// Redirects followed, not followed, or changed.
public struct Redirector: RedirectHandler {
    private let change: @Sendable (SessionRequest, SessionRequest, SessionResponse) async -> SessionRequest?

    /// Follows as proposed.
    public static let follow = Redirector { proposed, _, _ in proposed }
    /// Takes the redirect as the answer; its status then fails the usual validation.
    public static let doNotFollow = Redirector { _, _, _ in nil }
    /// Follows to where the closure says, which gets the proposed request, the sent one and the response.
    public static func modify(
        _ change:
            @escaping @Sendable (
                _ proposed: SessionRequest, _ request: SessionRequest, _ response: SessionResponse
            ) async -> SessionRequest?
    ) -> Redirector { Redirector(change: change) }

    /// The proposed request, none, or what the closure answers.
    public func redirect(
        to proposed: SessionRequest, from request: SessionRequest, response: SessionResponse
    ) async -> SessionRequest? {
        await change(proposed, request, response)
    }
}

extension RedirectHandler where Self == Redirector {
    /// Follows as proposed.
    public static var follow: Redirector { .follow }
    /// Takes the redirect as the answer; its status then fails the usual validation.
    public static var doNotFollow: Redirector { .doNotFollow }
}

/// What a response with the status of a redirect leads to (RFC 9110 §15.4).
public enum RedirectDecision: Sendable {
    /// The response is the answer.
    case notARedirect
    /// This is to be sent next.
    case follow(SessionRequest)
    /// The task fails.
    case failure(SessionError)
}
