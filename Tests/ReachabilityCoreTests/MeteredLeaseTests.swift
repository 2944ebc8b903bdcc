// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import Testing

/// The files of DHCP clients, byte by byte.
struct MeteredLeaseTests {
    private static let word = "414e44524f49445f4d455445524544"

    private static func networkd(_ lines: String...) -> IPAddress? {
        MeteredLease.networkd(LeaseFile(Array(lines.joined(separator: "\n").utf8)))
    }

    /// A message of a DHCP server: 192.0.2.9 is leased, with these options.
    private static func message(_ options: [UInt8]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 236)
        bytes.replaceSubrange(16..<20, with: [192, 0, 2, 9])
        return bytes + [99, 130, 83, 99] + options
    }

    private static let vendor = [43, 15] + Array("ANDROID_METERED".utf8)

    @Test("UPL-227 systemd-networkd's lease: the vendor option in hexadecimal, whatever else is in the file")
    func networkd() {
        let address = IPAddress("192.168.42.7")
        let head = "# This is private data. Do not parse.\nADDRESS=192.168.42.7\nNETMASK=255.255.255.0"
        #expect(Self.networkd(head, "VENDOR_SPECIFIC=\(Self.word)", "CLIENTID=ff") == address)
        #expect(Self.networkd("VENDOR_SPECIFIC=\(Self.word.uppercased())", head, "") == address)
        #expect(Self.networkd(head, "VENDOR_SPECIFIC=0102\(Self.word)00") == address)
        for other in [
            "VENDOR_SPECIFIC=", "VENDOR_SPECIFIC=414e44", "VENDOR_SPECIFIC=\(Self.word.dropLast())",
            "VENDOR_SPECIFIC=zz\(Self.word)", "OPTION_224=\(Self.word)", "HOSTNAME=ANDROID_METERED",
            "XVENDOR_SPECIFIC=\(Self.word)",
        ] {
            #expect(Self.networkd(head, other) == nil, "\(other)")
        }
        #expect(Self.networkd("VENDOR_SPECIFIC=\(Self.word)") == nil, "no address")
        #expect(Self.networkd("ADDRESS=host", "VENDOR_SPECIFIC=\(Self.word)") == nil)
    }

    @Test(
        "UPL-350 systemd-networkd's lease in JSON: its address in numbers, and its vendor option in hexadecimal",
        arguments: [
            (#"{"Address":[192,168,42,7],"Router":[[192,168,42,1]],"Vendor_Specific":"W"}"#, true),
            (
                "{\n\t\"Vendor_Specific\" : \"01W00\",\n\t\"Address\" : [\n 192,\n 168,\n 42,\n 7\n]\n}\n",
                true
            ),
            (
                #"{"Next_Server":[192,0,2,9],"Address":[192,168,42,7],"Client_Id":[1],"Vendor_Specific":"W"}"#,
                true
            ),
            (#"{"Address":[192,168,42,7],"Vendor_Specific":"414e44"}"#, false),
            (#"{"Address":[192,168,42,7],"Private_Options":[{"Option":224,"Data":"W"}]}"#, false),
            (#"{"Address":[192,168,42],"Vendor_Specific":"W"}"#, false),
            (#"{"Address":[192,168,42,,7],"Vendor_Specific":"W"}"#, false),
            (#"{"Address":[192,168,42,256],"Vendor_Specific":"W"}"#, false),
            (#"{"Address":"192.168.42.7","Vendor_Specific":"W"}"#, false),
            (#"{"Servers":{"Address":[192,168,42,7]},"Vendor_Specific":"W"}"#, false),
            (#"{"Vendor_Specific":"W"}"#, false), (#"{"Vendor_Specific":"W","Address":"#, false),
            (#"{"Vendor_Specific":"W","Address":["#, false),
            ("{\"Hostname\":\"a\"}\nADDRESS=192.168.42.7\nVENDOR_SPECIFIC=W", false),
        ])
    func json(_ text: String, _ isMetered: Bool) {
        let lease = text.replacing("W", with: Self.word)
        #expect(Self.networkd(lease) == (isMetered ? IPAddress("192.168.42.7") : nil))
    }

    @Test("UPL-228 dhcpcd's lease: the server's message, its options with padding and in parts")
    func dhcpcd() {
        let address = IPAddress("192.0.2.9")
        func read(_ options: [UInt8]) -> IPAddress? { MeteredLease.dhcpcd(Self.message(options)) }
        #expect(read(Self.vendor + [255]) == address)
        #expect(read([53, 1, 5, 0, 0] + Self.vendor) == address)
        #expect(
            read([43, 4] + Self.vendor[2..<6] + [1, 1, 9, 43, 11] + Self.vendor[6...] + [255]) == address)
        #expect(read([255] + Self.vendor) == nil, "after the end")
        #expect(read([60, 15] + Self.vendor[2...] + [255]) == nil, "another option")
        #expect(read([53, 1, 5, 255]) == nil)
        var strange = Self.message(Self.vendor)
        strange[239] = 0
        #expect(MeteredLease.dhcpcd(strange) == nil, "no DHCP")
    }

    @Test("UPL-229 a lease that is cut anywhere, or lies about its lengths, says nothing and ends nothing")
    func cut() {
        let whole = Self.message([53, 1, 5] + Self.vendor)
        for count in 0..<whole.count {
            #expect(MeteredLease.dhcpcd(Array(whole[..<count])) == nil, "\(count)")
        }
        for length in 16...255 {
            var lying = whole
            lying[244] = UInt8(length)
            #expect(MeteredLease.dhcpcd(lying) == nil)
        }
        #expect(MeteredLease.networkd(LeaseFile([])) == nil)
        #expect(MeteredLease.networkd(LeaseFile([0xFF, 0x3D, 0x0A])) == nil)
    }
}
