// SPDX-License-Identifier: Apache-2.0

/// Limits how often libcurl answers the challenges of one exchange by itself.
///
/// To a server that calls each nonce stale (RFC 7616 §3.3) it would send the request for ever.
package struct LibraryRounds: Sendable {
    private var count = 0
    /// Whether a challenge was one too many: it is the response.
    package private(set) var isSpent = false

    package init() {}

    /// libcurl is about to answer a challenge for its scheme; false where it must not.
    package mutating func mayAnswer(_ scheme: AuthenticationMethod) -> Bool {
        // The first challenge of Digest brings the nonce.
        let most =
            scheme == .digest
            ? 1 + AuthenticationStateMachine.mostStaleRounds : AuthenticationStateMachine.mostRounds
        count += 1
        isSpent = count > most
        return !isSpent
    }
}
