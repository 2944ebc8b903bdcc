// SPDX-License-Identifier: Apache-2.0

internal import CNetlink

/// One instruction of a classic socket filter (`struct sock_filter`, linux/filter.h).
package struct FilterInstruction: Sendable, Equatable {
    package var code: UInt16
    package var jumpTrue: UInt8
    package var jumpFalse: UInt8
    package var operand: UInt32

    /// An instruction without a jump.
    package init(_ code: Int32, _ operand: UInt32 = 0) { self.init(code, operand, true: 0, false: 0) }

    /// A conditional jump over these numbers of instructions.
    package init(_ code: Int32, _ operand: UInt32, true jumpTrue: UInt8, false jumpFalse: UInt8) {
        self.code = UInt16(truncatingIfNeeded: code)
        self.jumpTrue = jumpTrue
        self.jumpFalse = jumpFalse
        self.operand = operand
    }
}

// The instructions under the names of the kernel's documentation (networking/filter.rst). Loads of two and
// four bytes use network order, while netlink's headers use host order; constants are swapped accordingly.
extension FilterInstruction {
    /// A = the byte at `offset`.
    package static func loadByte(_ offset: UInt32) -> Self { Self(BPF_LD | BPF_B | BPF_ABS, offset) }
    /// A = the two bytes at `offset`.
    package static func loadHalf(_ offset: UInt32) -> Self { Self(BPF_LD | BPF_H | BPF_ABS, offset) }
    /// A = the four bytes at X + `offset`.
    package static func loadWordAtX(_ offset: UInt32) -> Self { Self(BPF_LD | BPF_W | BPF_IND, offset) }
    /// A = `value`.
    package static func load(_ value: UInt32) -> Self { Self(BPF_LD | BPF_IMM, value) }
    /// A = scratch word `index`.
    package static func loadScratch(_ index: UInt32) -> Self { Self(BPF_LD | BPF_MEM, index) }
    /// X = `value`.
    package static func loadX(_ value: UInt32) -> Self { Self(BPF_LDX | BPF_IMM, value) }
    /// X = scratch word `index`.
    package static func loadXScratch(_ index: UInt32) -> Self { Self(BPF_LDX | BPF_MEM, index) }
    /// Scratch word `index` = A; there are 16 of them.
    package static func store(_ index: UInt32) -> Self { Self(BPF_ST, index) }
    /// X = A.
    package static let copyToX = Self(BPF_MISC | BPF_TAX)
    /// A = A & `value`.
    package static func and(_ value: UInt32) -> Self { Self(BPF_ALU | BPF_AND | BPF_K, value) }
    /// A = A − X.
    package static let subtractX = Self(BPF_ALU | BPF_SUB | BPF_X)
    /// A = A << X; X is below 32.
    package static let shiftLeftByX = Self(BPF_ALU | BPF_LSH | BPF_X)
    /// A = the offset of the attribute of type X, searched from offset A; 0 if there is none.
    ///
    /// A kernel extension for netlink (SKF_AD_NLATTR, linux/filter.h).
    package static let findAttribute = Self(
        BPF_LD | BPF_W | BPF_ABS, UInt32(truncatingIfNeeded: CNETLINK_SKF_AD_NLATTR))
    /// Skips `count` instructions.
    package static func jump(_ count: Int) -> Self {
        Self(BPF_JMP | BPF_JA, UInt32(truncatingIfNeeded: count))
    }
    /// Jumps on A == `value`.
    package static func ifEqual(_ value: UInt32, _ yes: UInt8, else no: UInt8) -> Self {
        Self(BPF_JMP | BPF_JEQ | BPF_K, value, true: yes, false: no)
    }
    /// Jumps on A == X.
    package static func ifEqualX(_ yes: UInt8, else no: UInt8) -> Self {
        Self(BPF_JMP | BPF_JEQ | BPF_X, 0, true: yes, false: no)
    }
    /// Jumps on A > `value`.
    package static func ifGreater(_ value: UInt32, _ yes: UInt8, else no: UInt8) -> Self {
        Self(BPF_JMP | BPF_JGT | BPF_K, value, true: yes, false: no)
    }
    /// Jumps on A >= `value`.
    package static func ifAtLeast(_ value: UInt32, _ yes: UInt8, else no: UInt8) -> Self {
        Self(BPF_JMP | BPF_JGE | BPF_K, value, true: yes, false: no)
    }
    /// Accepts the whole message.
    package static let pass = Self(BPF_RET | BPF_K, .max)
    /// Drops the message without waking the socket's owner.
    package static let drop = Self(BPF_RET | BPF_K, 0)
}
