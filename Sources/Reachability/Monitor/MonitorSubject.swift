// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// What a monitor watches.
package enum MonitorSubject: Sendable, Equatable {
    /// The way out to anywhere.
    case general
    /// Addresses that need no resolver.
    case addresses([ReachabilityDestination])
    /// A name that has to be resolved.
    case name(String)

    /// A host as a person writes it: a literal with or without brackets and zone, or a name.
    package init(_ host: String) {
        var literal = host[...]
        if literal.hasPrefix("["), literal.hasSuffix("]") { literal = literal.dropFirst().dropLast() }
        if let destination = ReachabilityDestination(String(literal)) {
            self = .addresses([destination])
        } else {
            self = .name(host)
        }
    }
}
