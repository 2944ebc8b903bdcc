// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

/// The fuzzer's entry: one datagram, as if received from the socket, for all code that reads datagrams.
///
/// Checks only that nothing traps, and that decoded values are consistent.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    decodeNotifications(bytes)
    readReplies(bytes)
    return 0
}

private func decodeNotifications(_ bytes: [UInt8]) {
    var events: [NetworkEvent] = []
    var decoder = NetlinkDecoder(
        filter: RouteFilter(hosts: [IPAddress(v4: 0xCB00_7105), IPAddress(v6High: 0x2001_0DB8 << 32, low: 1)])
    )
    decoder.decode(bytes.span.bytes, into: &events)
    for event in events {
        switch event {
        case .routeAdded(let prefix, _), .routeRemoved(let prefix, _):
            precondition(decoder.filter.passes(prefix))
        case .addressAdded(let address): precondition(address.prefixLength <= address.address.bitWidth)
        default: break
        }
    }
    var wireless = WirelessDecoder()
    _ = wireless.decode(bytes.span.bytes, into: &events)
}

private func readReplies(_ bytes: [UInt8]) {
    // Replies may carry any of the requests' numbers.
    var walk = NetlinkMessages()
    let first = walk.next(in: bytes.span.bytes)
    let questions: [KernelQuestion] = [
        .route(RouteLookup(destination: IPAddress(v4: 1), wantsEntry: true)), .link(1), .linkNamed("eth0"),
    ]
    for position in 0..<UInt32(questions.count) {
        var reply = BatchReply(questions, first: (first?.sequence ?? 0) &- position)
        reply.read(bytes.span.bytes)
        precondition(reply.answers.count { $0 == nil } == reply.missing)
    }
    for question: KernelQuestion in [.links, .ports(master: 12), .addresses, .rules] {
        var reply = DumpReply(question, sequence: first?.sequence ?? 0)
        reply.read(bytes.span.bytes)
        _ = reply.answer
    }
    walk = NetlinkMessages()
    while let message = walk.next(in: bytes.span.bytes) {
        _ = WirelessNetwork(message.body, in: bytes.span.bytes)
        guard var state = WirelessState(interface: message.body, in: bytes.span.bytes) else { continue }
        state.readStation(message.body, in: bytes.span.bytes)
    }
}
