// SPDX-License-Identifier: Apache-2.0

/// Reads the address of a DHCP lease whose server said that traffic costs: the vendor option (RFC 2132 §8.4)
/// with `ANDROID_METERED`, which telephones and NetworkManager send.
package enum MeteredLease {
    private static let word = Array("ANDROID_METERED".utf8)

    /// A lease of systemd-networkd (`/run/systemd/netif/leases`), whose vendor option is hexadecimal.
    package static func networkd(_ lease: LeaseFile) -> IPAddress? {
        guard let option = lease.value("VENDOR_SPECIFIC", member: "Vendor_Specific"),
            holdsWord(octets(option))
        else { return nil }
        return lease.address
    }

    /// A file of dhcpcd (`/var/lib/dhcpcd`): the server's message (RFC 2131 §2) as it came.
    package static func dhcpcd(_ bytes: [UInt8]) -> IPAddress? {
        // The fixed fields, and the magic cookie (§3).
        guard bytes.count > 240, bytes[236..<240].elementsEqual([99, 130, 83, 99]) else { return nil }
        var vendor: [UInt8] = []
        var index = 240
        while index < bytes.count, bytes[index] != 255 {
            if bytes[index] == 0 {
                index += 1
                continue
            }
            guard index + 1 < bytes.count else { break }
            let start = index + 2
            let end = start + Int(bytes[index + 1])
            guard end <= bytes.count else { break }
            // A long option comes in parts (RFC 3396).
            if bytes[index] == 43 { vendor += bytes[start..<end] }
            index = end
        }
        guard holdsWord(vendor) else { return nil }
        let number = bytes[16..<20].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return IPAddress(v4: number)
    }

    private static func holdsWord(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= word.count else { return false }
        return (0...(bytes.count - word.count)).contains { bytes[$0...].starts(with: word) }
    }

    /// The octets of a hexadecimal text; none where it is something else.
    private static func octets(_ text: String) -> [UInt8] {
        var octets: [UInt8] = []
        var high: UInt8?
        for character in text.utf8 {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = character - UInt8(ascii: "A") + 10
            default: return []
            }
            if let known = high {
                octets.append(known << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return octets
    }
}
