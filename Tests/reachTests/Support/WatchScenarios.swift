// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// The built program in a network namespace, on the real kernel.
@Suite(
    "The program on a real kernel",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct WatchScenarios {
    @Test(
        "RB-13 watch says once that the kernel refuses the filter, and works without",
        .enabled("the limit of this kernel concerns every namespace") { await FilterLimit.isOwn() })
    func unfiltered() async throws {
        let lab = try await NetworkLab(.f1)
        try await lab.near.sysctl("net.core.optmem_max", "0")
        let watch = try await lab.near.start(BuiltProgram.reach, "watch", "--json", "--count", "3")
        #expect(await watch.output.wait(forCount: 1).first?.contains(#""status":"wired""#) == true)
        try await lab.near.ip("route replace default via 10.0.0.9")
        await watch.output.wait(forCount: 2)
        try await lab.near.ip("route replace default via 10.0.0.1")
        #expect(try await watch.status() == .exited(0))
        let notes = watch.standardError.split(separator: "\n")
        #expect(notes.count == 1, "\(notes)")
        #expect(notes.first?.hasPrefix("reach: note: the kernel refuses the socket filter") == true)
    }

    @Test("an interface may have nearly any bytes in its name; none of them reaches the terminal as it is")
    func hostileInterface() async throws {
        let lab = try await NetworkLab(.f1)
        let watch = try await lab.near.start(BuiltProgram.reach, "watch", "--count", "3")
        _ = await watch.output.wait { $0.contains { $0.contains("v0") } }
        let evil = "\u{1B}]0;x\u{7}\u{9B}\"y"
        try await lab.near.run("ip", "link", "set", "v0", "name", evil)
        _ = await watch.output.wait { $0.contains { $0.contains("interface v0") } }
        try await lab.near.run("ip", "link", "del", evil)
        #expect(try await watch.status() == .exited(0))
        let text = watch.output.elements.joined(separator: "\n")
        #expect(text.contains("path  interface v0 → \u{FFFD}]0;x\u{FFFD}\u{FFFD}\"y"))
        #expect(
            !text.unicodeScalars.contains {
                $0 != "\n" && $0.value < 0x20 || (0x7F..<0xA0).contains($0.value)
            })
        #expect(watch.standardError == "")
    }

    @Test("watch has nothing to say on standard error where all is well") func silent() async throws {
        let lab = try await NetworkLab(.f1)
        let watch = try await lab.near.start(BuiltProgram.reach, "watch", "--count", "1")
        #expect(try await watch.status() == .exited(0))
        #expect(watch.standardError == "")
    }
}
