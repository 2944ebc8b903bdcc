// SPDX-License-Identifier: Apache-2.0

import Glibc
import Reachability
import ReachabilityCore
import Testing

/// Datagrams from a file in Recordings/netlink: hexadecimal digits, `#`, a title.
struct NetlinkRecording {
    /// The titles and bytes.
    let entries: [(title: String, bytes: [UInt8])]

    static let all = ["links", "addresses", "routes", "policy", "replies", "synthetic"]

    init(_ name: String, file: StaticString = #filePath) throws {
        let folder = "\(file)".split(separator: "/").dropLast(2).joined(separator: "/")
        let text = try #require(Self.read("/\(folder)/Recordings/netlink/\(name).hex"))
        entries = text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else { return nil }
            let digits = parts[0].utf8.compactMap { UInt8(String(UnicodeScalar($0)), radix: 16) }
            let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
            return (parts[1].drop { $0 == " " }.description, bytes)
        }
    }

    /// The datagrams whose title has this prefix.
    func datagrams(_ title: String) -> [[UInt8]] {
        entries.filter { $0.title.hasPrefix(title) }.map(\.bytes)
    }

    /// The events in the datagrams whose title has this prefix, none of them malformed.
    func events(_ title: String, filter: RouteFilter = RouteFilter()) -> [NetworkEvent] {
        var decoder = NetlinkDecoder(filter: filter)
        var events: [NetworkEvent] = []
        for bytes in datagrams(title) { decoder.decode(bytes.span.bytes, into: &events) }
        #expect(decoder.malformed == 0)
        return events
    }

    private static func read(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
