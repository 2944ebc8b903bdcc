// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Storage

@Suite struct FolderRightsTests {
    private func owners(_ users: [UInt32]) -> [FolderRights] {
        users.map { FolderRights(folder: "/x", user: $0, group: $0) }
    }

    @Test("FLD-051 the nearest owner other than root decides whose rights are taken")
    func nearest() {
        #expect(FolderRights.stranger(among: owners([0, 0])) == nil)
        #expect(FolderRights.stranger(among: owners([7, 0]))?.user == 7)
        #expect(FolderRights.stranger(among: owners([0, 8, 0]))?.user == 8)
        #expect(FolderRights.stranger(among: owners([7, 8]))?.user == 7)
    }

    @Test(
        "FLD-051 a link of another user's to a folder of root's leads to that user's rights",
        .enabled(if: geteuid() == 0, "another user can be played by root alone"))
    func link() throws {
        let folder = try ScratchFolder("reach-rights")
        try #require(mkdir(folder("own"), 0o755) == 0 && symlink(folder("own"), folder("link")) == 0)
        try #require(lchown(folder("link"), 65534, 65534) == 0)
        #expect(FolderRights.needed(in: folder("own")) == nil)
        #expect(FolderRights.needed(in: folder("link") + "/outbox")?.user == 65534)
        #expect(FolderRights.needed(in: folder("own") + "/missing/outbox") == nil)
        // A folder of root in another user's folder: the parent's owner decides, and folders further up are
        // trusted.
        try #require(mkdir(folder("home"), 0o755) == 0 && mkdir(folder("home/state"), 0o755) == 0)
        try #require(mkdir(folder("home/state/outbox"), 0o755) == 0)
        try #require(chown(folder("home"), 65534, 65534) == 0)
        #expect(FolderRights.needed(in: folder("home/state"))?.user == 65534)
        for name in ["outbox", "none"] {
            #expect(FolderRights.needed(in: folder("home/state/\(name)")) == nil)
        }
    }
}
