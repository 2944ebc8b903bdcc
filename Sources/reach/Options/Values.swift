// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Reachability
import ServiceCore

extension Terminal.ColorChoice: OptionWord {}

/// The value of an option that is one of a few words.
///
/// The parser's own way prints each word by reflection.
protocol OptionWord: ExpressibleByArgument, CaseIterable, RawRepresentable where RawValue == String {}

extension OptionWord {
    static var allValueStrings: [String] { allCases.map(\.rawValue) }
    static var allValueDescriptions: [String: String] { [:] }
    var defaultValueDescription: String { rawValue }
}

/// Parsers of option values; their errors are shown after "The value '…' is invalid for '--…'".
enum Value {
    /// Seconds, with a fraction where wanted; at most a hundred years.
    static func seconds(_ text: String) throws -> Duration {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ $0.utf8.allSatisfy(isDigit) }),
            parts.last?.isEmpty == false,
            let whole = parts[0].isEmpty ? 0 : Int64(parts[0]), whole <= 3_155_760_000
        else { throw ValidationError("give seconds, for example 30 or 0.5.") }
        var nanoseconds: Int64 = 0
        if parts.count == 2 {
            let digits = parts[1].utf8.prefix(9)
            for digit in digits { nanoseconds = nanoseconds * 10 + Int64(digit - 48) }
            for _ in digits.count..<9 { nanoseconds *= 10 }
        }
        return .seconds(whole) + .nanoseconds(nanoseconds)
    }

    /// A number, at least one.
    static func count(_ text: String) throws -> Int {
        guard text.utf8.allSatisfy(isDigit), let count = Int(text), count > 0 else {
            throw ValidationError("give a number, at least 1.")
        }
        return count
    }

    /// A firewall mark, decimal or hexadecimal.
    static func mark(_ text: String) throws -> UInt32 {
        let isHex = text.hasPrefix("0x") || text.hasPrefix("0X")
        guard let mark = isHex ? UInt32(text.dropFirst(2), radix: 16) : UInt32(text), !text.hasPrefix("+")
        else { throw ValidationError("give a firewall mark from 0 to 4294967295, or hexadecimal as 0x10.") }
        return mark
    }

    /// A TCP port.
    static func port(_ text: String) throws -> UInt16 {
        guard text.utf8.allSatisfy(isDigit), let port = UInt16(text), port > 0 else {
            throw ValidationError("give a TCP port from 1 to 65535.")
        }
        return port
    }

    /// A user by number.
    static func user(_ text: String) throws -> UInt32 {
        guard text.utf8.allSatisfy(isDigit), let user = UInt32(text) else {
            throw ValidationError("give a user by number, as 'id -u NAME' prints it.")
        }
        return user
    }

    /// The name of an interface, as the kernel allows it.
    static func interface(_ text: String) throws -> String {
        // dev_valid_name() of the kernel: 1 to 15 bytes, no slash, no colon, no space, and not "." or "..".
        guard (1...15).contains(text.utf8.count), text != ".", text != "..",
            text.utf8.allSatisfy({
                $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":")
            })
        else {
            throw ValidationError(
                text.contains(":")
                    ? "give the interface's name alone, without an operational state."
                    : "this is not an interface name; 'ip link' lists them.")
        }
        return text
    }

    /// `wwan0=yes`: what the traffic of an interface costs.
    static func metered(_ text: String) throws -> (name: String, metered: Metered) {
        guard let (name, metered) = Metered.assignment(text) else {
            throw ValidationError("give an interface and yes, guess-yes, guess-no, no or unknown: wwan0=yes.")
        }
        return (try interface(name), metered)
    }

    /// An interface, or a medium by its word.
    static func network(_ text: String) throws -> NetworkRequirement {
        let network = NetworkRequirement(text)
        if case .interface(let name) = network { _ = try interface(name) }
        return network
    }

    /// A shell pattern of interface names.
    static func interfacePattern(_ text: String) throws -> InterfacePattern {
        guard let pattern = InterfacePattern(text) else {
            throw ValidationError("give an interface name or a pattern of names, for example 'docker*'.")
        }
        return pattern
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
}

extension Option where Value == NetworkRequirement? {
    /// `--via`: an interface, or a medium by its word.
    init(via help: String) {
        self.init(
            name: .customLong("via"), help: ArgumentHelp(help, valueName: "network"),
            transform: reach.Value.network)
    }
}
