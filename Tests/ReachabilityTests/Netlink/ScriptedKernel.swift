// SPDX-License-Identifier: Apache-2.0

import Glibc
import Reachability
import ReachabilityCore

/// A kernel with scripted answers.
final class ScriptedKernel: NetlinkTransport {
    enum Reply {
        case bytes([UInt8])
        case reception(NetlinkReception)
    }

    /// The requests, one element for each datagram.
    private(set) var sent: [[UInt8]] = []
    /// The pending replies.
    var queue: [Reply] = []
    /// The reaction to a request.
    private let answer: (ScriptedKernel, [UInt8]) -> Void

    init(_ answer: @escaping (ScriptedKernel, [UInt8]) -> Void) { self.answer = answer }

    /// The error of the next send.
    var refusal: NetlinkError?

    func send(_ bytes: [UInt8]) throws(NetlinkError) {
        if let refusal { throw refusal }
        sent.append(bytes)
        answer(self, bytes)
    }

    func receive(into buffer: inout [UInt8]) -> NetlinkReception {
        guard !queue.isEmpty else { return .nothing }
        switch queue.removeFirst() {
        case .reception(let reception): return reception
        case .bytes(let bytes):
            guard bytes.count <= buffer.count else { return .truncated(needed: bytes.count) }
            buffer.replaceSubrange(0..<bytes.count, with: bytes)
            return .datagram(byteCount: bytes.count)
        }
    }

    /// The sequence numbers in a datagram of requests.
    static func sequences(_ bytes: [UInt8]) -> [UInt32] {
        var walk = NetlinkMessages()
        var all: [UInt32] = []
        while let message = walk.next(in: bytes.span.bytes) { all.append(message.sequence) }
        return all
    }

    /// A route reply through interface `output`.
    static func route(_ output: Int32, sequence: UInt32) -> [UInt8] {
        var reply = NetlinkRequest()
        reply.begin(24, sequence: sequence)
        for byte: UInt8 in [2, 32, 0, 0, 254, 0, 0, 1, 0, 0, 0, 0] { reply.append(byte) }
        reply.attribute(4, output)
        reply.end()
        return reply.bytes
    }

    /// A link of a dump, with `padding` bytes.
    static func link(_ index: Int32, sequence: UInt32, flags: Int32 = 0, padding: Int = 0) -> [UInt8] {
        var reply = NetlinkRequest()
        reply.begin(16, flags: flags, sequence: sequence)
        reply.append(UInt32(0))
        reply.append(index)
        reply.append(UInt64(0))
        reply.attribute(3, "eth\(index)")
        for _ in 0..<padding / 12 { reply.attribute(900, UInt64(0)) }
        reply.end()
        return reply.bytes
    }

    /// The end of a dump, or an error.
    static func end(_ type: UInt16 = 3, errno: Int32 = 0, sequence: UInt32, flags: Int32 = 0) -> [UInt8] {
        var reply = NetlinkRequest()
        reply.begin(type, flags: flags, sequence: sequence)
        reply.append(-errno)
        reply.end()
        return reply.bytes
    }
}
