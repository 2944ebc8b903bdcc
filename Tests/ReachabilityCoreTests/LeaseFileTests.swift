// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import Testing

/// What other programs write about a link and its lease.
struct LeaseFileTests {
    private func file(_ text: String) -> LeaseFile { LeaseFile(Array(text.utf8)) }

    @Test(
        "UPL-260 Lines of systemd-networkd: a key's value without quotes, nothing of comments and of longer keys",
        arguments: [
            ("CAPTIVE_PORTAL=https://portal.example/api\n", "https://portal.example/api"),
            (
                "# private\nDNS=192.0.2.1\nCAPTIVE_PORTAL=\"https://portal.example/a b\"\n",
                "https://portal.example/a b"
            ),
            ("CAPTIVE_PORTAL='https://portal.example'", "https://portal.example"),
            ("CAPTIVE_PORTAL=https://portal.example \r\n", "https://portal.example"),
            ("CAPTIVE_PORTAL=a=b\nCAPTIVE_PORTAL=c\n", "a=b"),
            ("#CAPTIVE_PORTAL=x\nNO_CAPTIVE_PORTAL=y\nCAPTIVE_PORTAL_OLD=z\n", nil),
            ("CAPTIVE_PORTAL=\n", nil), ("CAPTIVE_PORTAL=\"\"\n", nil), ("CAPTIVE_PORTAL\n", nil), ("", nil),
            ("CAPTIVE_PORTAL=\"", "\""), ("\u{0}\u{1}\n=\n==\nCAPTIVE_PORTAL=x", "x"),
        ] as [(String, String?)])
    func lines(_ text: String, _ value: String?) {
        #expect(file(text).value("CAPTIVE_PORTAL") == value)
    }

    @Test(
        "UPL-261 Leases in JSON: a string of the outermost object, and damage is no value",
        arguments: [
            (#"{"Address":[192,0,2,7],"Vendor_Specific":"414e44","Hostname":"a"}"#, "414e44"),
            ("\n{ \"Vendor_Specific\" : \"41\\\"4e\" }\n", "41\"4e"),
            (#"{"Hostname":"Vendor_Specific","Vendor_Specific":"2"}"#, "2"),
            (#"{"Servers":{"Vendor_Specific":"inner"},"Vendor_Specific":"outer"}"#, "outer"),
            (#"{"List":["Vendor_Specific","x"],"Other":"Vendor_Specific"}"#, nil),
            (#"{"Vendor_Specific":17,"Other":"17"}"#, nil), (#"{"Vendor_Specific":""}"#, nil),
            (#"{"Vendor_Specific":"41"#, nil), (#"{"Vendor_Specific":"\"#, nil), ("{", nil),
            (#"{"Vendor_Specific":"\u0041"}"#, nil),
        ] as [(String, String?)])
    func json(_ text: String, _ value: String?) {
        #expect(file(text).value("VENDOR_SPECIFIC", member: "Vendor_Specific") == value)
        #expect(file(text).value("VENDOR_SPECIFIC") == nil)
    }

    @Test("UPL-262 No more of a file counts than its kind has")
    func longFile() {
        let filler = String(repeating: "#", count: LeaseFile.limit - 4) + "\n"
        #expect(file(filler + "A=b").value("A") == "b")
        #expect(file(filler + "AB=c").value("AB") == nil)
        #expect(file(filler + "#\nA=b").value("A") == nil)
    }
}
