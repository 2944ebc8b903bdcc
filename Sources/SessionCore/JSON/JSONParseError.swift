// SPDX-License-Identifier: Apache-2.0

/// Why a text is no JSON, and where.
public struct JSONParseError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, in a few words.
    public let reason: String
    /// The position of the fault in bytes, from 0.
    public let offset: Int
    /// The line of the fault, from 1.
    public let line: Int
    /// The column of the fault in characters (Unicode scalars), from 1.
    public let column: Int

    init(_ reason: String, at offset: Int, in bytes: Span<UInt8>) {
        let end = min(offset, bytes.count)
        var line = 1
        var column = 1
        for index in 0..<end {
            switch bytes[index] {
            case 0x0A:
                line += 1
                column = 1
            // Bytes that continue a scalar take no column.
            case 0x80...0xBF: break
            default: column += 1
            }
        }
        self.reason = reason
        self.offset = end
        self.line = line
        self.column = column
    }

    /// The fault and its offset.
    public var description: String { "\(reason) at line \(line), column \(column)" }
}
