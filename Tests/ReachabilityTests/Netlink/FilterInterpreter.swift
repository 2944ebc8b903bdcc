// SPDX-License-Identifier: Apache-2.0

import Reachability

/// Runs a classic socket filter like the kernel (networking/filter.rst), with the extension for attributes.
struct FilterInterpreter {
    let program: [FilterInstruction]

    enum Failure: Error {
        /// The kernel would refuse the program.
        case invalid(String)
    }

    /// Whether the message passes.
    func passes(_ message: [UInt8]) throws -> Bool {
        guard (1...4096).contains(program.count) else { throw Failure.invalid("length \(program.count)") }
        var a: UInt32 = 0
        var x: UInt32 = 0
        var scratch = [UInt32?](repeating: nil, count: 16)
        var position = 0
        while position < program.count {
            let instruction = program[position]
            let k = instruction.operand
            position += 1
            func jump(_ condition: Bool) -> Int {
                position + Int(condition ? instruction.jumpTrue : instruction.jumpFalse)
            }
            switch instruction.code {
            case 0x00: a = k
            case 0x01: x = k
            case 0x20 where k == UInt32(bitPattern: -0x1000 + 12):
                a = findAttribute(message, from: a, type: x)
            case 0x20, 0x28, 0x30:
                let size = instruction.code == 0x20 ? 4 : instruction.code == 0x28 ? 2 : 1
                guard let value = load(message, Int(k), size) else { return false }
                a = value
            case 0x40:
                guard let value = load(message, Int(x) + Int(k), 4) else { return false }
                a = value
            case 0x60: a = try word(scratch, k)
            case 0x61: x = try word(scratch, k)
            case 0x02:
                guard k < 16 else { throw Failure.invalid("scratch \(k)") }
                scratch[Int(k)] = a
            case 0x07: x = a
            case 0x87: a = x
            case 0x54: a &= k
            case 0x1c: a = a &- x
            case 0x6c:
                guard x < 32 else { throw Failure.invalid("shift by \(x)") }
                a <<= x
            case 0x05: position += Int(k)
            case 0x15: position = jump(a == k)
            case 0x1d: position = jump(a == x)
            case 0x25: position = jump(a > k)
            case 0x35: position = jump(a >= k)
            case 0x06: return k != 0
            default: throw Failure.invalid("code \(instruction.code)")
            }
        }
        throw Failure.invalid("ran off the end")
    }

    private func word(_ scratch: [UInt32?], _ index: UInt32) throws -> UInt32 {
        guard index < 16, let value = scratch[Int(index)] else { throw Failure.invalid("scratch \(index)") }
        return value
    }

    private func load(_ message: [UInt8], _ offset: Int, _ size: Int) -> UInt32? {
        guard offset + size <= message.count else { return nil }
        return message[offset..<offset + size].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private func findAttribute(_ message: [UInt8], from start: UInt32, type: UInt32) -> UInt32 {
        var offset = Int(start)
        while offset + 4 <= message.count {
            let length = Int(message[offset]) | Int(message[offset + 1]) << 8
            guard length >= 4, offset + length <= message.count else { return 0 }
            if UInt32(message[offset + 2]) | UInt32(message[offset + 3] & 0x3F) << 8 == type {
                return UInt32(offset)
            }
            offset += (length + 3) & ~3
        }
        return 0
    }
}
