// SPDX-License-Identifier: Apache-2.0

/// Whether transfers are bound to an interface (SO_BINDTODEVICE, socket(7)) that has a path while the kernel's own choice is dead.
///
/// That happens when a cable is out and its default route, with the better metric, is still there: every unbound connection of the
/// device times out then, though Wi-Fi would carry it.
public enum RescuePolicy: Sendable, Hashable, Codable {
    /// While the kernel's choice is dead and another interface has a path; not before and not longer.
    case automatic
    /// Never: what the kernel chooses is used, or waited for.
    case never
    /// Always to this interface, whatever the kernel chooses.
    case always(interface: String)
}
