// SPDX-License-Identifier: Apache-2.0

import Glibc
import ReachabilityCore
import Service
import ServiceCore
import SessionCore
import TestSupport
import Testing

@Suite("State directory: what cannot be used, and may be later", .timeLimit(.minutes(10)))
struct StateDirectoryTests {
    @Test(
        "what the disk is behind passes; what a person has to decide does not",
        .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
    func problems() async throws {
        let disk = try await SmallDisk(bytes: 1 << 20)
        let made = StateDirectory(disk.path + "/made")
        try made.prepare()
        var status = stat()
        #expect(stat(made.path, &status) == 0 && status.st_mode & 0o777 == 0o700)
        try made.prepare()

        func problem(_ directory: StateDirectory) -> StateDirectory.Problem? {
            do throws(StateDirectory.Problem) { try directory.prepare() } catch { return error }
            return nil
        }
        try await disk.setReadOnly(true)
        for name in ["/made", "/missing"] {
            let readOnly = try #require(problem(StateDirectory(disk.path + name)))
            #expect(readOnly.isOfDisk, "\(readOnly)")
            #expect(readOnly.description.hasPrefix("\(disk.path)\(name): Read-only file system; "))
        }
        try await disk.setReadOnly(false)
        try made.prepare()
        #expect(chmod(made.path, 0o777) == 0)
        let open = try #require(problem(made))
        #expect(!open.isOfDisk && open.description.contains("may be written by every user"), "\(open)")
        let nowhere = try #require(problem(StateDirectory(disk.path + "/missing/below")))
        #expect(!nowhere.isOfDisk, "\(nowhere)")
    }

    /// A folder that is refused for now.
    private func refused() throws -> ScratchFolder {
        let folder = try ScratchFolder("reach-state")
        #expect(chmod(folder.path, 0o777) == 0)
        return folder
    }

    @Test("changes wait until it can be used, and are in it then")
    func history() async throws {
        let folder = try refused()
        let service = try await ServiceBench(in: folder) { _, files, counters in
            HistoryService(ServiceConfiguration.History(), files: files, counters: counters)
        }
        try await service.notify(.at(1, .wired, event: .initial))
        let problem = await service.log.wait(forCount: 1).first
        #expect(problem?.hasPrefix("error: history: \(folder.path) may be written by every user") == true)
        try await service.files.result {}
        #expect(folder.names == [])
        #expect(chmod(folder.path, 0o700) == 0)
        try await service.notify(.at(2, .unreachable, was: .wired))
        #expect(await service.log.wait(forCount: 2).last == "notice: history: changes are kept again")
        await service.stop()
        #expect(try HistoryDatabase(reading: folder(HistoryDatabase.fileName)).count() == 2)
        #expect(try await service.counters { $0.historySkipped } == 0)
    }

    @Test("the outbox is opened when it can be used")
    func outbox() async throws {
        let folder = try refused()
        let service = try await ServiceBench(in: folder) { _, _, _ in
            OutboxService(.init(), pauses: Backoff(first: .milliseconds(1), limit: .milliseconds(10)))
        }
        let problem = await service.log.wait(forCount: 1).first
        #expect(problem?.hasPrefix("error: outbox: \(folder.path) may be written by every user") == true)
        #expect(folder.names == [])
        #expect(chmod(folder.path, 0o700) == 0)
        #expect(await service.log.wait(forCount: 2).last == "notice: outbox: requests are delivered again")
        #expect(folder.names == [FetchFolders.name, OutboxService.folderName])
        await service.stop()
    }

    @Test("FLD-115 a file in its place is refused as such")
    func file() throws {
        let folder = try ScratchFolder("reach-state")
        try #require(close(open(folder("state"), O_RDWR | O_CREAT | O_CLOEXEC, 0o700)) == 0)
        let problem = try #require(throws: StateDirectory.Problem.self) {
            try StateDirectory(folder("state")).prepare()
        }
        #expect(problem.description.hasPrefix("\(folder("state")) is no directory") && !problem.isOfDisk)
    }
}
