// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachabilityCore
import ServiceCore
import SessionCore

/// One input of the fuzzer: a client's bytes on one connection, in pieces whose size is the first byte.
///
/// For any input each call is begun or answered, every answer is JSON that ends with the only NUL in it, and
/// a parsed call survives being written and read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzVarlink(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    guard let first = bytes.first else { return 0 }
    var limits = VarlinkLimits()
    limits.messageSize = 16 << 10
    var machine = VarlinkConnectionStateMachine(limits: limits)
    var rest = bytes.dropFirst()
    while !rest.isEmpty {
        check(machine.received(rest.prefix(Int(first) + 1)))
        rest = rest.dropFirst(Int(first) + 1)
        answer(&machine)
    }
    for message in bytes.split(separator: 0) { rewrite(Array(message)) }
    return 0
}

private let change = CommittedChange(
    ReachabilityUpdate(event: .status, status: .wired, previous: .wifi, path: ReachabilityPath()),
    since: WallTime(nanoseconds: 0), wall: WallTime(nanoseconds: 0), instant: MonotonicInstant(nanoseconds: 0)
)

private func answer(_ machine: inout VarlinkConnectionStateMachine) {
    while true {
        let step = machine.next(unread: 0)
        check(step)
        switch step {
        case .nothing, .end: return
        case .send: break
        case .begin(.monitor(let statusOnly)):
            check(machine.subscribed(statusOnly: statusOnly, to: change))
            var replies = ChangeReplies(change)
            check(machine.changed(&replies, unread: 0))
        case .begin: check(machine.answered(VarlinkReply()))
        }
    }
}

private func check(_ step: VarlinkConnectionStateMachine.Step) {
    switch step {
    case .send(let reply), .end(let reply): check(reply)
    case .nothing, .begin: break
    }
}

private func check(_ reply: VarlinkReply?) {
    guard let message = reply?.message else { return }
    precondition(message.firstIndex(of: 0) == message.count - 1, "an answer has a NUL inside")
    precondition((try? JSONValue(parsing: Data(message.dropLast()))) != nil, "an answer is no JSON")
}

private func rewrite(_ message: [UInt8]) {
    guard var call = try? VarlinkCall(message: message) else { return }
    // The upgrade flag is read but never written.
    call.upgrade = false
    guard let again = try? VarlinkCall(message: Array(call.message.dropLast())) else {
        preconditionFailure("a call cannot be written and read again")
    }
    precondition(again == call, "a call changed when it was written and read again")
}
