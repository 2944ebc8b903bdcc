// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Reachability
import SessionCore

/// A host as typed: an address, an IPv6 address with its zone, or a name.
struct HostText: Sendable, Hashable {
    /// The host without brackets.
    let text: String
    /// The family of a literal address; nil for a name.
    let family: IPAddress.Family?

    init(_ given: String) throws {
        var text = given
        if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
        if let destination = ReachabilityDestination(given) {
            self.text = destination.zone == nil ? text : destination.text
            family = destination.address.family
            return
        }
        // In the form of names on the wire (RFC 5891 §4); a URL or a port is reported below.
        if !text.contains(where: { $0 == "/" || $0 == ":" }) {
            do throws(SessionError) { text = try InternationalHost.ascii(text) } catch {
                throw ValidationError("\(error.message); \(error.advice).")
            }
        }
        if let problem = Self.problem(with: text) { throw ValidationError(problem) }
        self.text = text
        family = nil
    }

    /// The fault of a name (RFC 1123 §2.1; underscores are common in private zones).
    private static func problem(with name: String) -> String? {
        if name.isEmpty { return "give a name or an address." }
        if name.contains("/") { return "give the host alone, without 'https://' and path." }
        if name.contains(":") {
            let parts = name.split(separator: ":", omittingEmptySubsequences: false)
            if parts.count == 2, UInt16(parts[1]) != nil { return "give the host without a port." }
            return "this is not an IPv6 address; a link-local one is written fe80::1%eth0."
        }
        let trimmed = name.hasSuffix(".") ? name.dropLast() : name[...]
        let labels = trimmed.split(separator: ".", omittingEmptySubsequences: false)
        if labels.count > 0, labels.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }) {
            return "this is not an IPv4 address: it has four numbers from 0 to 255."
        }
        let isValid =
            trimmed.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy { byte in
                        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                    }
            }
        return isValid ? nil : "this is neither a host name nor an address."
    }
}
