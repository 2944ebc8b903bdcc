// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Storage

@Suite(
    "Files on a disk that is mounted read-only",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct FrozenFileTests {
    @Test("SQLite is told that nobody changes them, unless a log of changes was left beside them")
    func names() async throws {
        let disk = try await SmallDisk(bytes: 1 << 20)
        // SQLite resolves links of proc(5) by their text, and would not find the files there.
        let path = disk.path + "/%41?mode=rw#.sqlite"
        func write(_ path: String, _ text: String) {
            let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            #expect(descriptor >= 0 && Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count)
            close(descriptor)
        }
        write(path, "any")
        write(path + "-wal", "")
        #expect(DatabaseFile.frozen(path) == nil)
        try await disk.setReadOnly(true)
        #expect(
            DatabaseFile.frozen(path) == "file:\(disk.path)/%2541%3fmode=rw%23.sqlite?immutable=1")
        #expect(DatabaseFile.frozen(disk.path + "/missing") == nil)
        try await disk.setReadOnly(false)
        write(path + "-wal", "changes")
        try await disk.setReadOnly(true)
        #expect(DatabaseFile.frozen(path) == nil)
    }
}
