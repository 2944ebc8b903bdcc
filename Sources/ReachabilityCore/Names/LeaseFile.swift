// SPDX-License-Identifier: Apache-2.0

/// What systemd-networkd wrote about a link or its DHCP lease: `KEY=value` lines (env-file), or since
/// version 258 one JSON object for the lease.
///
/// Anything else in the file is ignored: it belongs to another program, and may be damaged.
package struct LeaseFile: Sendable {
    /// More than such a file has; what follows is not read.
    package static let limit = 64 << 10

    private let bytes: ArraySlice<UInt8>

    /// A file's content; only the first ``limit`` bytes count.
    package init(_ content: [UInt8]) { bytes = content.prefix(Self.limit) }

    /// The value of a key, without quotes around it; nil where it is missing or empty.
    ///
    /// - Parameters:
    ///   - key: As in `VENDOR_SPECIFIC=`.
    ///   - member: The same in JSON, as in `"Vendor_Specific":"0a"`; nil where only lines are looked at. Only
    ///     strings are found, and `\u` ends one.
    package func value(_ key: String, member: String? = nil) -> String? {
        guard isJSON else { return line(key) }
        guard let member, var index = index(of: member), bytes[index] == UInt8(ascii: "\""),
            let text = text(from: &index), !text.isEmpty
        else { return nil }
        return String(decoding: text, as: UTF8.self)
    }

    /// The address of the lease: `ADDRESS=192.0.2.7`, or in JSON `"Address":[192,0,2,7]`.
    package var address: IPAddress? {
        guard isJSON else { return line("ADDRESS").flatMap { IPAddress($0) } }
        guard let index = index(of: "Address"), bytes[index] == UInt8(ascii: "[") else { return nil }
        let numbers = bytes[index...].dropFirst().prefix { $0 != UInt8(ascii: "]") }.filter { $0 > 0x20 }
        return IPAddress(
            String(decoding: numbers, as: UTF8.self).split(separator: ",", omittingEmptySubsequences: false)
                .joined(separator: "."))
    }

    private var isJSON: Bool { bytes.first { $0 > 0x20 } == UInt8(ascii: "{") }

    private func line(_ key: String) -> String? {
        let start = Array((key + "=").utf8)
        for line in bytes.split(separator: 0x0A) where line.starts(with: start) {
            var value = line.dropFirst(start.count)
            while let last = value.last, last <= 0x20 { value.removeLast() }
            if let quote = value.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
                value.count > 1, value.last == quote
            {
                value = value.dropFirst().dropLast()
            }
            return value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
        }
        return nil
    }

    /// Where the value of a member of the outermost object begins.
    private func index(of member: String) -> Int? {
        let name = Array(member.utf8)
        var depth = 0
        var last: [UInt8]?
        var index = bytes.startIndex
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ":") where depth == 1 && last == name:
                return bytes[index...].dropFirst().firstIndex { $0 > 0x20 }
            case UInt8(ascii: "\""):
                guard let text = text(from: &index) else { return nil }
                last = text
            default: break
            }
            index += 1
        }
        return nil
    }

    /// The text that begins at a quote; `index` is at the closing one afterwards.
    private func text(from index: inout Int) -> [UInt8]? {
        var text: [UInt8] = []
        index += 1
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "\""): return text
            case UInt8(ascii: "\\"):
                index += 1
                guard index < bytes.endIndex, bytes[index] != UInt8(ascii: "u") else { return nil }
                text.append(bytes[index])
            default: text.append(bytes[index])
            }
            index += 1
        }
        return nil
    }
}
