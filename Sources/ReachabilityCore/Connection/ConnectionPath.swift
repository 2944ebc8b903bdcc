// SPDX-License-Identifier: Apache-2.0

/// The path of one connection: everything that must stay the same for its packets to arrive.
///
/// Connections with the same path share one value, so that the kernel is asked once for all of them.
package struct ConnectionPath: Sendable, Hashable {
    /// The source address; nil before the kernel has chosen one.
    package var local: IPAddress?
    /// The remote address: the server, or the proxy before it.
    package var peer: IPAddress
    /// The remote TCP port; 0 if unknown.
    package var port: UInt16
    /// The egress interface.
    package var interface: Int32
    /// The interface's name when the connection was made.
    package var name: String
    /// Whether it is bound to the interface (SO_BINDTODEVICE, socket(7)), which overrides the kernel's
    /// choice.
    package var isBound: Bool
    /// Whether it is bound only because the kernel's own choice was dead.
    package var isStandIn: Bool

    package init(
        local: IPAddress? = nil, peer: IPAddress, port: UInt16 = 0, interface: Int32, name: String,
        isBound: Bool = false,
        isStandIn: Bool = false
    ) {
        self.local = local
        self.peer = peer
        self.port = port
        self.interface = interface
        self.name = name
        self.isBound = isBound
        self.isStandIn = isStandIn
    }
}

/// The state of a connection's path.
package enum ConnectionVerdict: Sendable, Equatable {
    /// The path is unchanged.
    case fine
    /// No packet arrives any more; the sentence says why, for example "eth0: no carrier".
    case dead(String)
    /// The path works, but the kernel now prefers another interface: packets would leave there with a source
    /// address of this one.
    case moved(to: Int32)
}
