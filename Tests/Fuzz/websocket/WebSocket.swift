// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import WebSockets

/// One input of the fuzzer: how the bytes are cut into pieces, how long messages may be, in what fragments
/// the answers leave, and the bytes of a server.
///
/// For any input the items do not depend on the pieces, no message is longer than allowed, a connection that
/// has ended does nothing more, and each message that was read survives being written and read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebSocket(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard input.count > 3 else { return 0 }
    let (piece, limit, fragment) = (Int(input[0]) + 1, Int(input[1]) << 4, Int(input[2]) + 1)
    let bytes = Array(input[3...])
    let items = decode(bytes, piece: .max, limit: limit)
    precondition(items == decode(bytes, piece: piece, limit: limit), "pieces change what is read")
    for (index, item) in items.enumerated() {
        switch item {
        case .message(let message):
            precondition(message.byteCount <= limit, "a message is too long")
            precondition(
                reread(message, fragment: fragment, piece: piece) == [.message(message)], "a message changed")
        case .ping(let content), .pong(let content):
            precondition(content.count <= 125, "a control frame is too long")
        case .close(let closing):
            precondition(index == items.count - 1, "something was read behind a close frame")
            precondition(closing.code == .noStatus || closing.code.isSendable, "a code that is never sent")
        case .violation: precondition(index == items.count - 1, "something was read behind a violation")
        }
    }
    drive(items, seed: input[0])
    var head = [UInt8](bytes.prefix(16))
    head += Array(repeating: 0, count: 16 - head.count)
    precondition(
        WebSocketHandshake.accept(for: WebSocketHandshake(nonce: head, protocols: []).key).utf8.count == 28)
    return 0
}

private func decode(_ bytes: [UInt8], piece: Int, limit: Int) -> [WebSocketDecoder.Item] {
    var decoder = WebSocketDecoder(maximumMessageSize: limit)
    var items: [WebSocketDecoder.Item] = []
    var start = 0
    while start < bytes.count {
        let part = Array(bytes[start...].prefix(piece))
        start += part.count
        part.withUnsafeBytes { part in
            var position = 0
            while let item = decoder.next(part, &position) { items.append(item) }
            precondition(position == part.count, "bytes were left")
        }
    }
    return items
}

/// Writes a message as a client does, and reads it as a server: without the masks.
private func reread(_ message: WebSocketMessage, fragment: Int, piece: Int) -> [WebSocketDecoder.Item] {
    var writer = WebSocketWriter(fragmentSize: fragment)
    writer.send(message)
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 139 + piece, alignment: 1)
    defer { room.deallocate() }
    var wire: [UInt8] = []
    var key: UInt32 = 0x1234_5678
    while !writer.isEmpty {
        let count = writer.fill(room) {
            key = key &* 1_664_525 &+ 1_013_904_223
            return key
        }
        precondition(count > 0, "a writer with something left writes nothing")
        wire += room[..<count]
    }
    var plain: [UInt8] = []
    var rest = wire[...]
    while let first = rest.popFirst(), let second = rest.popFirst() {
        precondition(second & 0x80 != 0, "a frame is not masked")
        var length = Int(second & 0x7F)
        plain += [first, second & 0x7F]
        if length > 125 {
            let size = length == 126 ? 2 : 8
            plain += rest.prefix(size)
            length = rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(size)
        }
        let mask = Array(rest.prefix(4))
        plain += rest.dropFirst(4).prefix(length).enumerated().map { $1 ^ mask[$0 & 3] }
        rest = rest.dropFirst(4 + length)
    }
    return decode(plain, piece: .max, limit: .max)
}

/// A connection that gets these items, with pings, holds and a close in between.
private func drive(_ items: [WebSocketDecoder.Item], seed: UInt8) {
    var machine = WebSocketStateMachine(
        WebSocketStateMachine.Timing(keepAlive: seed & 1 == 0 ? 3 : nil, pongLimit: 2, closeLimit: 2))
    var now: Int64 = 0
    var hasEnded = false
    func expect(_ action: WebSocketStateMachine.Action) {
        precondition(!hasEnded || action == .nothing, "a connection that has ended does something")
        if case .end = action { hasEnded = true }
    }
    machine.opened(at: now)
    for (index, item) in items.enumerated() {
        now += Int64(seed & 7)
        machine.bytesCame(at: now)
        expect(machine.received(item, at: now))
        if index & 3 == 1 { _ = machine.pingRequested(at: now) }
        if index & 7 == 2 { machine.setHeld(seed & 2 != 0, at: now) }
        if index == Int(seed) { expect(machine.closeRequested(WebSocketClosing(.normal), at: now)) }
        if let deadline = machine.nextDeadline { expect(machine.timeCame(at: max(now, deadline))) }
        if index & 3 == 3 { expect(machine.closeSent()) }
    }
    expect(machine.connectionLost(nil))
    precondition(machine.state == .closed && machine.nextDeadline == nil, "a lost connection is not closed")
}
