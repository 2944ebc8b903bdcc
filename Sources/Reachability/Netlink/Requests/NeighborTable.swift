// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// What the kernel knows of the neighbours on its links, from its own questions: ARP and neighbour discovery
/// (arp(7)).
package enum NeighborTable {
    /// Whether a neighbour answers: true if it has confirmed so (NUD_REACHABLE), false if it did not answer
    /// (NUD_INCOMPLETE, NUD_FAILED), nil if the kernel has not asked or does not say.
    ///
    /// Asks the kernel and returns within a few milliseconds.
    package static func answers(_ address: IPAddress, on interface: Int32) -> Bool? {
        guard let transport = try? KernelTransport(.route, namespace: nil) else { return nil }
        var request = NetlinkRequest()
        request.begin(UInt16(RTM_GETNEIGH), flags: NLM_F_DUMP, sequence: 1)
        // `struct ndmsg` with the family alone: a strict check refuses anything else.
        request.append(UInt32(address.family == .ipv4 ? AddressFamily.inet : AddressFamily.inet6))
        request.append(UInt64(0))
        request.end()
        guard (try? transport.send(request.bytes)) != nil else { return nil }
        var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferSizes.upperBound)
        var search = NeighborSearch(address: address, interface: interface)
        // A bound for tables of any size; the kernel sends at least a page at a time.
        for _ in 0..<1024 {
            switch transport.receive(into: &buffer) {
            case .datagram(let count):
                let datagram = buffer
                search.read(datagram.span.bytes.extracting(0..<count))
                if search.isComplete { return search.answers }
            case .foreign: continue
            case .nothing, .overrun, .truncated, .broken: return nil
            }
        }
        return nil
    }
}

/// Looks for one neighbour in the messages of a dump (`struct ndmsg`, rtnetlink(7)).
package struct NeighborSearch {
    private let address: IPAddress
    private let interface: Int32
    package private(set) var isComplete = false
    /// Whether it answers; nil if unknown.
    package private(set) var answers: Bool?

    package init(address: IPAddress, interface: Int32) {
        self.address = address
        self.interface = interface
    }

    /// Reads the messages of one datagram.
    package mutating func read(_ bytes: RawSpan) {
        var walk = NetlinkMessages()
        while !isComplete, let message = walk.next(in: bytes) {
            switch Int(message.type) {
            case Int(NLMSG_DONE), Int(NLMSG_ERROR): isComplete = true
            case RTM_NEWNEIGH: add(message, bytes)
            default: break
            }
        }
    }

    private mutating func add(_ message: NetlinkMessage, _ bytes: RawSpan) {
        let body = message.body
        guard body.count >= NetlinkLayout.neighbor,
            let family = bytes.integer(UInt8.self, at: body.lowerBound),
            bytes.integer(Int32.self, at: body.lowerBound + 4) == interface,
            let state = bytes.integer(UInt16.self, at: body.lowerBound + 8)
        else { return }
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.neighbor)
        while let attribute = attributes.next(in: bytes) {
            guard attribute.type == Int(NDA_DST),
                bytes.address(family: family, in: attribute.payload) == address
            else { continue }
            if Int32(state) & Int32(NUD_REACHABLE) != 0 { answers = true }
            if Int32(state) & Int32(NUD_INCOMPLETE | NUD_FAILED) != 0 { answers = false }
            isComplete = true
        }
    }
}
