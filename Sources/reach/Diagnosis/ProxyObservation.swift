// SPDX-License-Identifier: Apache-2.0

/// What the way to a proxy came to.
enum ProxyObservation: Sendable, Equatable {
    /// It has no address.
    case name(NameObservation.Outcome)
    /// One connection that stands, or the first that does not.
    case connection(ConnectionObservation)
}
