// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// What a file that replaces another one may be used for, and by which user.
struct FileRightsTests {
    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test(
        "FLD-026 a download over a file keeps that file's mode",
        arguments: [0o600, 0o640, 0o755, 0o444] as [mode_t])
    func download(_ former: mode_t) async throws {
        let (lab, folder) = (try await Lab(), try ScratchFolder())
        try Data([1]).write(to: URL(filePath: folder("file")))
        #expect(chmod(folder("file"), former) == 0)
        _ = try await lab.manager.download(
            lab.request("/bytes/10"), to: DownloadDestination(folder("file"), replacesExisting: true))
        #expect(mode(folder("file")) == former)
        #expect(try Data(contentsOf: URL(filePath: folder("file"))).count == 10)
    }

    @Test(
        "FLD-026 a download over a file of another user is that user's still",
        .enabled(if: geteuid() == 0, "another user can be played by root alone"))
    func owner() async throws {
        let (lab, folder) = (try await Lab(), try ScratchFolder())
        try Data([1]).write(to: URL(filePath: folder("file")))
        #expect(chmod(folder("file"), 0o600) == 0 && chown(folder("file"), 1234, 1234) == 0)
        _ = try await lab.manager.download(
            lab.request("/bytes/10"), to: DownloadDestination(folder("file"), replacesExisting: true))
        var status = stat()
        #expect(stat(folder("file"), &status) == 0)
        #expect(status.st_uid == 1234 && status.st_gid == 1234 && status.st_mode & 0o777 == 0o600)
    }

    @Test("FLD-026 what takes no other's place has the rights that this process gives its files")
    func new() async throws {
        let (lab, folder) = (try await Lab(), try ScratchFolder())
        _ = try await lab.manager.download(lab.request("/bytes/10"), to: DownloadDestination(folder("file")))
        try Data([1]).write(to: URL(filePath: folder("other")))
        #expect(mode(folder("file")) & 0o111 == 0 && mode(folder("file")) & 0o600 == 0o600)
    }
}
