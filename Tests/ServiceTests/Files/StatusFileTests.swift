// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import ReachabilityCore
import Service
import ServiceCore
import SessionCore
import TestSupport
import Testing

@Suite("Files that are replaced as a whole", .timeLimit(.minutes(10)))
struct StatusFileTests {
    private func content(_ path: String) -> String {
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }

    @Test(
        "status.json says what reach status --json says, the newest of ten thousand, and goes with the service"
    )
    func statusFile() async throws {
        let bench = try await ServiceBench { folder, files, _ in
            StatusFile(directory: folder.path, files: files)
        }
        let changes = CommittedChange.storm(10_000)
        try await bench.notify(changes)
        var newest = TextLine()
        ReportJSON.write(try #require(changes.last).state, to: &newest)
        // The thread for files works in order: after this its earlier work is done; then the loop is notified
        // and passes on the newest content.
        for _ in 0..<3 {
            try await bench.files.result {}
            try await bench.loop.result {}
        }
        #expect(content(bench.folder("status.json")) == newest.text)
        #expect(bench.folder.names == ["status.json"])
        var status = stat()
        #expect(stat(bench.folder("status.json"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o644)
        await bench.stop()
        #expect(bench.folder.names == [])
    }

    @Test("FLD-106 status.json follows links that are not in use, too")
    func links() async throws {
        let folder = try ScratchFolder("reach-links")
        let files = try Reactor(name: "links-files")
        let lab = try await ServiceLab(
            .wiredAndWiFi, parts: { [StatusFile(directory: folder.path, files: files)] })
        let path = folder("status.json")
        /// Whether wlan0 is online, once the file says so.
        func isOnline(_ wanted: Bool) async throws -> Bool {
            for _ in 0..<10_000 {
                let state = try? JSONValue(parsing: Data(contentsOf: URL(filePath: path)))
                let link = state?["links"]?.array?.first { $0["name"] == "wlan0" }
                if link?["online"]?.bool == wanted, state?["interface"] == "eth0" { return true }
                try await files.result {}
                try await lab.settle()
            }
            return false
        }
        #expect(try await isOnline(true))
        lab.kernel.change { $0.setCarrier($0.index("wlan0"), false) }
        #expect(try await isOnline(false))
        lab.kernel.change { $0.setCarrier($0.index("wlan0"), true) }
        #expect(try await isOnline(true))
        await lab.stop()
    }

    @Test("a missing folder is reported once, not at each change")
    func failing() async throws {
        let bench = try await ServiceBench { folder, files, _ in
            StatusFile(directory: folder("later"), files: files)
        }
        for second in 1...3 as ClosedRange<Int64> {
            try await bench.notify(.at(second, .wired))
            try await bench.files.result {}
        }
        try await bench.loop.result {}
        #expect(bench.log.elements.count == 1)
        #expect(
            bench.log.elements.first?.contains("status.json cannot be made: No such file or directory")
                == true)
        #expect(mkdir(bench.folder("later"), 0o755) == 0)
        try await bench.notify(.at(4, .wired))
        let lines = await bench.log.wait(forCount: 2)
        #expect(
            lines.last == "warning: status file: \(bench.folder("later"))/status.json can be written again")
        await bench.stop()
    }

    @Test(
        "what is refused is tried again without another change; meanwhile nothing says what is true no more")
    func triedAgain() async throws {
        let bench = try await ServiceBench { folder, files, _ in
            StatusFile(directory: folder.path, files: files)
        }
        try await bench.notify(.at(1, .wired))
        try await bench.files.result {}
        try await bench.loop.result {}
        #expect(bench.folder.names == ["status.json"])
        // A folder in place of the temporary file is an obstacle even for root.
        #expect(mkdir(bench.folder(".status.json.new"), 0o700) == 0)
        try await bench.notify(.at(2, .unreachable, was: .wired))
        _ = await bench.log.wait(forCount: 1)
        #expect(bench.folder.names == [".status.json.new"])
        #expect(rmdir(bench.folder(".status.json.new")) == 0)
        let lines = await bench.log.wait(forCount: 2)
        #expect(lines.last?.hasSuffix("can be written again") == true)
        #expect(content(bench.folder("status.json")).contains("\"status\":\"unreachable\""))
        await bench.stop()
        #expect(bench.folder.names == [])
    }

    @Test("an earlier process's unfinished file is no obstacle")
    func leftOver() throws {
        let folder = try ScratchFolder("reach-files")
        #expect(symlink("/dev/full", folder(".a.new")) == 0)
        #expect(AtomicFile(folder("a")).write(Array("x".utf8)) == nil)
        #expect(folder.names == ["a"])
        #expect(content(folder("a")) == "x")
    }
}
