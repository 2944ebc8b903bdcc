// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc
import Outbox
import ReachabilityCore
import ServiceCore
import TestSupport
import Testing

@testable import reach

@Suite("reach fetch")
struct FetchTests {
    @Test("OBX-342 The command line becomes a download; wrong ones are refused")
    func arguments() throws {
        let sum = String(repeating: "a", count: 64)
        let fetch = try #require(
            try Reach.parseAsRoot([
                "fetch", "https://a/f", "https://b/f", "--to", "/data/f", "--sha256", sum, "--network",
                "wifi-or-wired", "--mode", "0600", "--tag", "ota", "--gate", "battery", "--replaces", "fw",
            ]) as? Fetch)
        var request = fetch.file.request(fetch.urls)
        fetch.times.apply(to: &request)
        #expect(request.url.absoluteString == "https://a/f" && request.method == .get)
        #expect(request.networkCondition == .wifiOrWired && request.lane == "downloads")
        #expect(request.download?.mirrors.map(\.absoluteString) == ["https://b/f"])
        #expect(request.download?.path == "/data/f" && request.download?.sha256 == sum)
        #expect(request.download?.mode == 0o600)
        #expect(request.tags == ["ota"] && request.gates == ["battery"] && request.replaces == "fw")
        for wrong in [
            ["https://a/f"], ["--to", "/f"], ["https://a/f", "--to", "f"],
            ["https://a/f", "--to", "/f", "--mode", "4755"], ["https://a/f", "--to", "/f", "--timeout", "1"],
            ["https://a/f", "--to", "/f", "--network", "wifi"],
        ] { #expect(throws: (any Error).self) { try Reach.parseAsRoot(["fetch"] + wrong) } }
    }

    @Test(
        "OBX-343 Without a service it is stored for the next one, within its limits, and shown with its file")
    func stored() async throws {
        let origin = try await Origin.shared
        let folder = try ScratchFolder("reach-fetch")
        let fetched = folder("state/fetched")
        func reach(_ arguments: String...) async throws -> (code: Int32, text: String, errors: String) {
            let end = try await origin.run(
                ["/usr/bin/env", "-u", "http_proxy", "LC_ALL=C.UTF-8", BuiltProgram.reach] + arguments
                    + ["--state-directory", folder("state")])
            guard case .exited(let code) = end.status else { throw LabError("\(end.status)") }
            return (code, end.text, end.errors)
        }
        let url = origin.url("/bytes/1000?key=\(folder.path.suffix(6))")
        let refused = try await reach("fetch", url, "--to", "/etc/reach-test")
        #expect(refused.code == 64 && refused.errors.contains("choose a path below \(fetched)"), "\(refused)")
        let taken = try await reach("fetch", url, "--to", fetched + "/file", "--json")
        #expect(taken.code == 0 && taken.text.contains(#""outcome":"queued""#), "\(taken)")
        let list = try await reach("queue")
        #expect(list.text.contains("GET \(url) → \(fetched)/file"), "\(list.text)")
        let shown = try await reach("queue", "show", "1", "--json")
        #expect(
            shown.text.contains(#""file":"\#(fetched)/file","sha256":null,"mirrors":[]"#), "\(shown.text)")
        // What delivers here and now fetches it too.
        let sent = try await reach("send", url, "-X", "GET", "--lane", "downloads", "--now")
        #expect(sent.code == 0, "\(sent)")
        #expect(try Data(contentsOf: URL(filePath: fetched + "/file")).count == 1_000)
    }
}
