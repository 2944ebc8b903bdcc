// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// The socket for nl80211's notifications: connections, disconnections, roaming and changes of mode.
///
/// Without Wi-Fi it stays silent; the controller announces a module that is loaded later.
package final class NL80211EventSocket {
    private let namespace: NamespaceEntry?
    private var socket: NetlinkSocket?
    // Reads one message at a time, and all that pass the filter are short.
    private var buffer = [UInt8](repeating: 0, count: 8192)
    private var decoder = WirelessDecoder()

    package init(namespace: NamespaceEntry? = nil) { self.namespace = namespace }

    /// The descriptor to wait for; nil while closed.
    package var descriptor: Int32? {
        switch socket {
        case .some(let socket): socket.descriptor
        case nil: nil
        }
    }

    /// Opens the socket and requests the family; the answer arrives like an event.
    package func open() throws(NetlinkError) {
        close()
        let socket = try NetlinkSocket(.generic, namespace: namespace)
        try socket.setNonBlocking()
        try socket.attach(Self.filter)
        // The controller's group, with a fixed number, announces new families (linux/genetlink.h).
        try socket.join(group: Int32(GenericFamily.controller))
        var request = NetlinkRequest()
        GenericFamily.ask("nl80211", sequence: 1, in: &request)
        try socket.send(request.bytes)
        self.socket = consume socket
    }

    /// Closes the socket.
    package func close() {
        socket = nil
        decoder = WirelessDecoder()
    }

    /// Reads at most `limit` datagrams and appends their events; false if the socket is unusable.
    package func drain(limit: Int, into events: inout [NetworkEvent]) -> Bool {
        for _ in 0..<limit {
            switch receive() {
            case .datagram(let byteCount):
                let datagram = buffer
                let found = decoder.decode(datagram.span.bytes.extracting(0..<byteCount), into: &events)
                if let found { join(found) }
            case .nothing: return true
            case .foreign: break
            // Lost messages need no details: each evaluation asks for the interface's state.
            case .truncated, .overrun: events.append(.wirelessChanged(index: 0))
            case .broken: return false
            }
        }
        return true
    }

    private func receive() -> NetlinkReception {
        switch socket {
        case .some(let socket): socket.receive(into: &buffer)
        case nil: .broken(errno: EBADF)
        }
    }

    private func join(_ found: GenericFamily) {
        for name in ["mlme", "config"] {
            guard let group = found.groups[name] else { continue }
            switch socket {
            // Without the group, changes of Wi-Fi still arrive as link events.
            case .some(let socket): try? socket.join(group: group)
            case nil: break
            }
        }
    }

    /// Passes the controller's messages, errors, and the relevant commands.
    package static var filter: [FilterInstruction] {
        func turned(_ type: UInt16) -> UInt32 { UInt32(type.bigEndian) }
        var program: [FilterInstruction] = [
            .loadHalf(4), .ifEqual(turned(GenericFamily.controller), 1, else: 0),
            .ifEqual(turned(UInt16(NLMSG_ERROR)), 0, else: 1), .pass,
            .loadByte(UInt32(NetlinkLayout.header)),
        ]
        for command in WirelessDecoder.commands { program += [.ifEqual(UInt32(command), 0, else: 1), .pass] }
        return program + [.drop]
    }
}
