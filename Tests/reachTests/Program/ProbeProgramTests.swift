// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import reach

/// `--probe` of `reach status` and `reach watch` against the origin, in namespaces of their own where paths
/// matter.
@Suite("The program: probe", .timeLimit(.minutes(10)))
struct ProbeProgramTests {
    @Test(
        "what is behind the path, as JSON and for people",
        arguments: [
            ("/status/204", ["--probe-status", "204"], "full"),
            ("/html", ["--probe-status", "204"], "portal"),
            ("/redirect-to?url=/status/204", [], "portal"),
            ("/body?text=yes", ["--probe-body", "yes"], "full"),
            ("/html", ["--probe-body", "yes"], "portal"), ("/status/503", [], "limited"),
        ])
    func states(_ path: String, _ options: [String], _ state: String) async throws {
        let origin = try await Origin.shared
        let command = [
            "/usr/bin/env", "-u", "http_proxy", BuiltProgram.reach, "status", "--host", "127.0.0.1",
        ]
        let probe = ["--probe", origin.url(path)] + options
        let json = try await origin.run(command + probe + ["--json"])
        #expect(json.status == .exited(0))
        #expect(String(decoding: json.output, as: UTF8.self).contains(#""internet":"\#(state)""#))
        let text = try await origin.run(command + probe)
        #expect(String(decoding: text.output, as: UTF8.self).contains("internet: \(state)"))
    }

    @Test("without --probe nothing is asked and nothing is known")
    func off() async throws {
        let origin = try await Origin.shared
        let end = try await origin.run([BuiltProgram.reach, "status", "--host", "127.0.0.1", "--json"])
        #expect(String(decoding: end.output, as: UTF8.self).contains(#""internet":null"#))
        let wrong = try await origin.run([BuiltProgram.reach, "status", "--probe-status", "204"])
        #expect(wrong.status == .exited(64))
    }

    @Test("watch tells when it is known, and when it changes")
    func watch() async throws {
        let origin = try await Origin.shared
        let url = origin.url("/retry-after?key=watch-probe&times=1&status=511")
        let end = try await origin.run([
            "/usr/bin/env", "-u", "http_proxy", BuiltProgram.reach, "watch", "--host", "127.0.0.1", "--probe",
            url,
            "--json", "--count", "3", "--timeout", "30",
        ])
        let lines = String(decoding: end.output, as: UTF8.self).split(separator: "\n")
        try #require(lines.count == 3, "\(lines)")
        #expect(lines[0].contains(#""internet":"unknown""#) && lines[0].contains(#""event":"initial""#))
        #expect(lines[1].contains(#""internet":"portal","event":"internet""#))
        #expect(lines[2].contains(#""internet":"full","event":"internet""#))
    }
}
