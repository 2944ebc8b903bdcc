// SPDX-License-Identifier: Apache-2.0

/// What running transfers do when the kernel turns to another interface while theirs still works: a cable was plugged in beside Wi-Fi.
///
/// New transfers take the kernel's choice in either case.
public enum BetterPathPolicy: String, Sendable, Codable, CaseIterable {
    /// They stay: their sockets are bound to their interface (SO_BINDTODEVICE, socket(7)), without which the kernel would send their
    /// packets through the new one, with the old one's address.
    case stay
    /// They go on over the new one, as after a loss: downloads by range, requests that may be sent twice again from the beginning, the
    /// others stay.
    case move
}
