// SPDX-License-Identifier: Apache-2.0

/// Decides what follows a response with 421 (Misdirected Request): the same request once more, over a
/// connection of its own.
///
/// The server has not carried the request out, so its method does not matter (RFC 9110 §15.5.20). A second
/// 421 of the same target is the response.
package struct Misdirection: Sendable {
    /// Whether the current response is a 421 after which the request is sent again.
    package private(set) var isPending = false
    /// Whether the next exchange may use no existing connection.
    package private(set) var needsNewConnection = false

    package init() {}

    /// The server has answered 421.
    ///
    /// - Parameter canRepeat: whether the body can be sent again.
    /// - Returns: whether the request is sent again.
    package mutating func received(canRepeat: Bool) -> Bool {
        guard canRepeat, !needsNewConnection else { return false }
        isPending = true
        return true
    }

    /// The misdirected exchange is over: the next one gets a new connection.
    package mutating func exchangeEnded() {
        isPending = false
        needsNewConnection = true
    }

    /// A new exchange begins.
    package mutating func exchangeBegins() { isPending = false }
}
