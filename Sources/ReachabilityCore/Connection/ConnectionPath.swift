// SPDX-License-Identifier: Apache-2.0

/// The way of one connection: what has to stay as it is for its packets to go on.
///
/// Many connections have the same way, and then the kernel is asked once for all of them.
package struct ConnectionPath: Sendable, Hashable {
    /// The address it sends from; nil before the kernel has chosen one.
    package var local: IPAddress?
    /// The other end: the server, or the proxy before it.
    package var peer: IPAddress
    /// Its TCP port there; 0 where it is not known.
    package var port: UInt16
    /// The interface it leaves through.
    package var interface: Int32
    /// That interface's name when the connection was made.
    package var name: String
    /// Whether it is bound to the interface (SO_BINDTODEVICE, socket(7)): what the kernel would choose is no matter then.
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

/// What became of the way of a connection.
package enum ConnectionVerdict: Sendable, Equatable {
    /// It is as it was.
    case fine
    /// Nothing comes through any more; the sentence says why, for example "eth0: no carrier".
    case dead(String)
    /// It works, and the kernel has turned to another interface: packets would leave there, with an address that does not belong
    /// there.
    case moved(to: Int32)
}
