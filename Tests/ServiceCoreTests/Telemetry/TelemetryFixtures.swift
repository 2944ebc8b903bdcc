// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import Testing

extension TelemetryResource {
    /// A device whose machine ID is 0123456789abcdef0123456789abcdef.
    static let device = TelemetryResource(
        version: "1.2.3", host: "meter-7", id: DeviceID(machineID: "0123456789abcdef0123456789abcdef\n"))
}

extension TelemetryLog {
    /// A second of the boot clock.
    static func second(_ number: Int64) -> Int64 { number * 1_000_000_000 }

    /// 2026-01-02T00:00:00Z at the second 0 of the boot clock.
    static let offset = WallTime.at(0).nanoseconds

    var batch: TelemetryBatch { batch(offset: Self.offset, start: Self.second(-10)) }

    /// Two samples of a counter, a gauge and of links, one of which goes; and a change of the status.
    static func sampled() -> TelemetryLog {
        var log = TelemetryLog()
        for (second, links) in [(0, ["eth0", "wwan0"]), (60, ["eth0"])] as [(Int64, [String])] {
            var families = MetricFamilies()
            families.write("reach_wakeups_total", .counter, "Wake-ups.", .whole(UInt64(7 + second)))
            families.write(
                "reach_outbox_oldest_age_seconds", .gauge, "Age.", .seconds(.milliseconds(1250)))
            families.begin("reach_interface_expensive", .gauge, "Cost.")
            for link in links {
                families.sample("reach_interface_expensive", [("interface", link)], .flag(link != "eth0"))
            }
            log.sample(families.all, at: Self.second(second), isWhole: true)
        }
        _ = log.add(
            TelemetryChange(.at(30, .unreachable, was: .wired, reason: "no \"carrier\""), boot: second(30)))
        return log
    }
}

/// Reads what protobuf.dev/programming-guides/encoding describes.
struct ProtobufReader {
    enum Value: Equatable {
        case number(UInt64)
        case bytes([UInt8])
    }

    private var rest: ArraySlice<UInt8>
    init(_ bytes: [UInt8]) { rest = bytes[...] }

    static func varint(_ rest: inout ArraySlice<UInt8>) throws -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = rest.popFirst() else { throw Malformed() }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw Malformed()
    }

    struct Malformed: Error {}

    mutating func next() throws -> (field: UInt64, value: Value)? {
        guard !rest.isEmpty else { return nil }
        let tag = try Self.varint(&rest)
        switch tag & 7 {
        case 0: return (tag >> 3, .number(try Self.varint(&rest)))
        case 1:
            try #require(rest.count >= 8)
            let value = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            rest.removeFirst(8)
            return (tag >> 3, .number(value))
        case 2:
            let count = Int(try Self.varint(&rest))
            try #require(rest.count >= count)
            defer { rest.removeFirst(count) }
            return (tag >> 3, .bytes(Array(rest.prefix(count))))
        default: throw Malformed()
        }
    }

    /// All fields of a message, in order.
    static func fields(_ bytes: [UInt8]) throws -> [(field: UInt64, value: Value)] {
        var (reader, all) = (ProtobufReader(bytes), [(field: UInt64, value: Value)]())
        while let field = try reader.next() { all.append(field) }
        return all
    }
}

/// A series of a WriteRequest, by the definitions of prompb/remote.proto and prompb/types.proto.
struct WrittenSeries: Equatable {
    var labels: [[String]] = []
    /// The bits of the value, and the milliseconds.
    var samples: [[UInt64]] = []

    static func read(_ message: [UInt8]) throws -> [WrittenSeries] {
        try ProtobufReader.fields(message).map { field, value in
            guard field == 1, case .bytes(let bytes) = value else { throw ProtobufReader.Malformed() }
            var series = WrittenSeries()
            for (field, value) in try ProtobufReader.fields(bytes) {
                guard case .bytes(let bytes) = value else { throw ProtobufReader.Malformed() }
                let parts = try ProtobufReader.fields(bytes)
                if field == 1 {
                    #expect(parts.map(\.field) == [1, 2])
                    series.labels.append(
                        parts.map { part in
                            if case .bytes(let text) = part.value {
                                String(decoding: text, as: UTF8.self)
                            } else {
                                "?"
                            }
                        })
                } else {
                    // A value of zero is not written.
                    #expect(
                        field == 2 && parts.last?.field == 2 && parts.dropLast().allSatisfy { $0.field == 1 })
                    let numbers = parts.map { part -> UInt64 in
                        if case .number(let number) = part.value { number } else { 0 }
                    }
                    series.samples.append((numbers.count == 1 ? [0] : []) + numbers)
                }
            }
            return series
        }
    }
}

/// Decodes by github.com/google/snappy, format_description.txt.
enum SnappyDecoder {
    static func decode(_ input: [UInt8]) throws -> [UInt8] {
        var rest = input[...]
        let count = Int(try ProtobufReader.varint(&rest))
        var output: [UInt8] = []
        func number(_ bytes: Int) throws -> Int {
            try #require(rest.count >= bytes)
            defer { rest.removeFirst(bytes) }
            return rest.prefix(bytes).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        while let tag = rest.popFirst() {
            let upper = Int(tag >> 2)
            switch tag & 3 {
            case 0:
                let length = (upper < 60 ? upper : try number(upper - 59)) + 1
                try #require(rest.count >= length)
                output += rest.prefix(length)
                rest.removeFirst(length)
            case 1: try copy(upper & 7 + 4, (upper >> 3) << 8 | number(1))
            case 2: try copy(upper + 1, number(2))
            default: try copy(upper + 1, number(4))
            }
        }
        func copy(_ length: Int, _ offset: Int) throws {
            try #require(offset > 0 && offset <= output.count)
            for _ in 0..<length { output.append(output[output.count - offset]) }
        }
        #expect(output.count == count)
        return output
    }
}
