// SPDX-License-Identifier: Apache-2.0

import Glibc
import ServiceCore
import TestSupport
import Testing

@Suite("Patterns of interface names")
struct InterfacePatternTests {
    private func matches(_ pattern: String, _ name: String) -> Bool? {
        InterfacePattern(pattern)?.matches(name)
    }

    @Test("UPL-200 `--ignore` takes the shell patterns of systemd-networkd-wait-online")
    func patterns() {
        #expect(matches("eth0", "eth0") == true && matches("eth0", "eth01") == false)
        #expect(matches("docker*", "docker0") == true && matches("docker*", "br-docker0") == false)
        #expect(matches("*", "anything") == true && matches("v*t*0", "veth0") == true)
        #expect(matches("eth?", "eth1") == true && matches("eth?", "eth") == false)
        #expect(matches("eth[0-3]", "eth2") == true && matches("eth[0-3]", "eth4") == false)
        #expect(matches("eth[!0-3]", "eth4") == true && matches("eth[^0]", "eth0") == false)
        #expect(matches("a[]x]b", "a]b") == true && matches("a[b-]c", "a-c") == true)
        #expect(matches(#"a\*"#, "a*") == true && matches(#"a\*"#, "ab") == false)
        #expect(matches("a[b", "a[b") == true)
    }

    @Test("UPL-200 random patterns match what fnmatch(3) matches")
    func asLibrary() {
        var generator = SeededGenerator(seed: 200)
        let letters = Array("ab0[]*?!-\\")
        func text(_ most: Int) -> String {
            String(
                (0..<Int.random(in: 1...most, using: &generator)).map { _ in
                    letters.randomElement(using: &generator) ?? "a"
                })
        }
        var matched = 0
        for _ in 0..<100_000 {
            let (pattern, name) = (text(8), text(5))
            // A backslash at the end matches nothing there, itself here; classes are not known.
            if pattern.hasSuffix("\\") || pattern.contains("[[") { continue }
            let expected = fnmatch(pattern, name, 0) == 0
            matched += expected ? 1 : 0
            #expect(matches(pattern, name) == expected, "\(pattern) \(name)")
        }
        #expect(matched > 1000)
    }

    @Test("UPL-200 many stars take no longer than one")
    func stars() {
        let pattern = String(repeating: "*a", count: 31) + "*b"
        #expect(matches(pattern, String(repeating: "a", count: 100_000)) == false)
    }

    @Test("UPL-200 what is no pattern of names", arguments: ["", "a/b", String(repeating: "a", count: 65)])
    func refused(_ text: String) { #expect(InterfacePattern(text) == nil) }
}
