// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import reach

/// Files that a running service fetches.
@Suite(
    "reach serve: fetched files", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct ServeFetchTests {
    @Test(
        "OBX-344 A file is fetched when the cable is in, put in its place, and told to a hook, after a restart too; who waits gets its path"
    )
    func fetched() async throws {
        let hooks = try ScratchFolder("reach-hooks")
        let script =
            "#!/bin/sh\n[ \"$1\" = fetched ] || exit 0\necho \"$2 $REACH_FETCH_BYTES\" >> \(hooks("told"))\n"
        try script.write(toFile: hooks("10-told"), atomically: true, encoding: .utf8)
        #expect(chmod(hooks("10-told"), 0o755) == 0)
        let lab = try await ServeLab(options: ["--hooks-directory", hooks.path])
        let server = try await lab.lab.startOrigin()
        try await lab.lab.far.ip("link set p0 down")
        #expect(await lab.notices.comes { $0.contains { $0.hasPrefix("STATUS=unreachable") } })
        let fetched = lab.folder + "/state/fetched/file"
        let refused = try await lab.ask(
            "EnqueueFetch", #"{"url":"http://10.0.0.1:8080/file","file":"/etc/passwd"}"#)
        #expect(refused.contains("BadRequest"), "\(refused)")
        let receipt = try await lab.ask(
            "EnqueueFetch",
            #"{"url":"http://10.0.0.1:8080/file","file":"\#(fetched)","mode":"0600","tags":["ota"]}"#)
        #expect(receipt.contains(#""repeated": false"#), "\(receipt)")
        #expect(try await lab.ask("ListOutbox").contains(#""file": "\#(fetched)""#))
        lab.service.terminate(signal: SIGKILL)
        _ = try await lab.service.status()
        let again = try await lab.lab.near.start(lab.command)
        #expect(await lab.notices.comes { $0.count { $0.hasPrefix("READY=1") } == 2 })
        try await lab.lab.far.ip("link set p0 up")
        #expect(await server.output.comes { $0.contains { $0.hasPrefix("GET /file ") } })
        let end = try await lab.ask("WaitOutbox", #"{"id":"1","timeout":30}"#)
        #expect(end.contains(#""outcome": "delivered""#) && end.contains(#""file": "\#(fetched)""#), "\(end)")
        #expect(try Data(contentsOf: URL(filePath: fetched)).count == 1_000)
        // The hooks have run before the entry left.
        #expect(try String(contentsOfFile: hooks("told"), encoding: .utf8) == "\(fetched) 1000\n")
        again.terminate()
        #expect(try await again.status() == .exited(0))
        server.terminate()
        try await lab.remove()
    }
}
