// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

// Requests to route netlink (rtnetlink(7)) for questions, and the answers in its messages.
extension KernelQuestion {
    /// Whether one message answers it, so that many such questions can share a datagram.
    package var isSingle: Bool {
        switch self {
        case .route, .link, .linkNamed: true
        default: false
        }
    }

    /// Appends the request, with only what strict validation (NETLINK_GET_STRICT_CHK) accepts.
    package func write(into request: inout NetlinkRequest, sequence: UInt32) {
        switch self {
        case .route(let lookup): lookup.write(into: &request, sequence: sequence)
        case .link(let index):
            request.begin(UInt16(RTM_GETLINK), sequence: sequence)
            Self.writeLink(index, into: &request)
            request.end()
        case .linkNamed(let name):
            request.begin(UInt16(RTM_GETLINK), sequence: sequence)
            Self.writeLink(0, into: &request)
            request.attribute(IFLA_IFNAME, name.text)
            request.end()
        case .links, .ports:
            request.begin(UInt16(RTM_GETLINK), flags: NLM_F_DUMP, sequence: sequence)
            Self.writeLink(0, into: &request)
            if case .ports(let master) = self { request.attribute(IFLA_MASTER, master) }
            request.end()
        case .addresses:
            request.begin(UInt16(RTM_GETADDR), flags: NLM_F_DUMP, sequence: sequence)
            request.append(UInt64(0))
            request.end()
        case .rules:
            request.begin(UInt16(RTM_GETRULE), flags: NLM_F_DUMP, sequence: sequence)
            // `struct fib_rule_hdr`, all zero: AF_UNSPEC stands for every family.
            request.append(UInt64(0))
            request.append(UInt32(0))
            request.end()
        case .wireless, .device, .lease: break
        }
    }

    /// `struct ifinfomsg`, without statistics, whose collection would be most of the work.
    private static func writeLink(_ index: Int32, into request: inout NetlinkRequest) {
        request.append(UInt32(0))
        request.append(index)
        request.append(UInt64(0))
        request.attribute(IFLA_EXT_MASK, UInt32(RTEXT_FILTER_SKIP_STATS))
    }

    /// Reads the answer to a single question; nil for a malformed message or one of another type.
    package func answer(in message: NetlinkMessage, _ bytes: RawSpan) -> KernelAnswer? {
        switch (self, Int(message.type)) {
        case (.route(let lookup), RTM_NEWROUTE):
            guard let route = RouteAnswer(message.body, in: bytes) else { return nil }
            // Kernels before 4.13 ignore RTM_F_FIB_MATCH, and return a route made for this lookup.
            let flags = bytes.integer(UInt32.self, at: message.body.lowerBound + 8) ?? 0
            if lookup.wantsEntry, flags & UInt32(RTM_F_CLONED) != 0 { return .failure(EOPNOTSUPP) }
            return .route(route)
        case (.link, RTM_NEWLINK), (.linkNamed, RTM_NEWLINK):
            return LinkMessage(message.body, in: bytes).map { .link($0.link) }
        default: return nil
        }
    }
}

extension RouteLookup {
    /// IPPROTO_TCP (netinet/in.h).
    private static let tcp: UInt8 = 6

    fileprivate func write(into request: inout NetlinkRequest, sequence: UInt32) {
        request.begin(UInt16(RTM_GETROUTE), sequence: sequence)
        var flags: UInt32 = wantsEntry ? UInt32(RTM_F_FIB_MATCH) : 0
        // IPv4 returns the main table's number unless asked for the real one; IPv6 rejects the flag.
        if destination.family == .ipv4 { flags |= UInt32(RTM_F_LOOKUP_TABLE) }
        request.append(
            rtmsg(
                rtm_family: AddressFamily.number(destination.family),
                rtm_dst_len: UInt8(destination.bitWidth), rtm_src_len: UInt8(source?.bitWidth ?? 0),
                rtm_tos: 0, rtm_table: 0, rtm_protocol: 0, rtm_scope: 0, rtm_type: 0, rtm_flags: flags))
        request.attribute(RTA_DST.number, destination)
        if let source { request.attribute(RTA_SRC.number, source) }
        if interface != 0 { request.attribute(RTA_OIF.number, interface) }
        if mark != 0 { request.attribute(RTA_MARK.number, mark) }
        if let user { request.attribute(RTA_UID.number, user) }
        if port != 0 {
            request.attribute(RTA_IP_PROTO.number, Self.tcp)
            request.attribute(RTA_DPORT.number, port.bigEndian)
            if sourcePort != 0 { request.attribute(RTA_SPORT.number, sourcePort.bigEndian) }
        }
        request.end()
    }
}
