// SPDX-License-Identifier: Apache-2.0

/// What a response with the status of a redirect leads to (RFC 9110 §15.4).
public enum RedirectDecision: Sendable {
    /// The response is the answer.
    case notARedirect
    /// This is to be sent next.
    case follow(SessionRequest)
    /// The task fails.
    case failure(SessionError)
}
