// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import reach

/// `reach get` with files that cannot be written or read: the error says so, and existing files stay.
@Suite("The program: get and the disk", .timeLimit(.minutes(10)))
struct GetDiskTests {
    /// Runs a shell line in a file system of a mebibyte, which has a file `old` and is removed with the line.
    private func onSmallDisk(
        _ lab: GetLab, _ arguments: [String], _ line: String = #""$@""#
    ) async throws -> GetLab.Result {
        try FileManager.default.createDirectory(
            atPath: "\(lab.folder)/disk", withIntermediateDirectories: true)
        let inside = """
            mount -t tmpfs -o size=1m,mode=777 none disk && cd disk && echo good > old || exit 99
            \(line); code=$?
            ls -s --block-size=1 >&2; cat old >&2; exit $code
            """
        let outside =
            "exec unshare \(getuid() == 0 ? "" : "--map-root-user ")--mount sh -c '\(inside)' sh \"$@\""
        let end = try await lab.shell(outside, arguments)
        try #require(end.code != 99, "no file system can be mounted: \(end.errors)")
        return end
    }

    @Test(
        "a full disk: the error names the file and what to do, the old file is intact",
        arguments: ["/bytes/3000000", "/chunked/3000000?chunk=65536"])
    func full(_ path: String) async throws {
        let lab = try await GetLab()
        let end = try await onSmallDisk(lab, [lab.origin.url(path), "-o", "old"])
        #expect(end.code == 74)
        #expect(end.errors.contains("cannot write old.part: No space left on device"), "\(end.errors)")
        #expect(end.errors.contains("free some space"), "\(end.errors)")
        // Without a validator nothing can be resumed.
        #expect(end.errors.hasSuffix(" old\ngood\n"), "\(end.errors)")
        #expect(!end.errors.contains("old.part\n"), "\(end.errors)")
    }

    @Test("FLD-026 a file that is replaced keeps its mode: what only its owner may read, and what can be run")
    func rights() async throws {
        let lab = try await GetLab()
        func mode(_ name: String) -> mode_t {
            var status = stat()
            return stat("\(lab.folder)/\(name)", &status) == 0 ? status.st_mode & 0o7777 : 0
        }
        for (former, expected) in [
            (0o600, 0o600), (0o400, 0o400), (0o640, 0o640), (0o755, 0o755), (0o4777, 0o777),
        ]
            as [(mode_t, mode_t)]
        {
            try lab.write([1], "file")
            // As an earlier attempt has left it.
            try lab.write([1], "file.part")
            #expect(chmod("\(lab.folder)/file", former) == 0 && chmod("\(lab.folder)/file.part", 0o644) == 0)
            let url = lab.origin.url("/bytes/10")
            #expect(try await lab.shell("umask 022; exec \"$@\"", [url, "-o", "file"]).code == 0)
            #expect(mode("file") == expected, "\(String(former, radix: 8))")
            #expect(lab.content("file")?.count == 10)
        }
    }

    @Test(
        "FLD-026 root replaces another user's file: it stays that user's, unless a stranger put it into a folder for all users",
        .enabled(if: geteuid() == 0, "another user can be played by root alone"))
    func owners() async throws {
        let lab = try await GetLab()
        let folder = "\(lab.folder)/everybody"
        #expect(mkdir(folder, 0o755) == 0 && chmod(folder, 0o1777) == 0)
        for (name, owner) in [("file", 1234), ("everybody/file", 0)] as [(String, uid_t)] {
            try lab.write([1], name)
            #expect(chmod("\(lab.folder)/\(name)", 0o600) == 0)
            #expect(chown("\(lab.folder)/\(name)", 1234, 1234) == 0)
            #expect(try await lab.get(lab.origin.url("/bytes/10"), "-o", name).code == 0)
            var status = stat()
            #expect(stat("\(lab.folder)/\(name)", &status) == 0)
            #expect(status.st_uid == owner && status.st_mode & 0o777 == 0o600, "\(name) \(status.st_uid)")
        }
    }

    @Test(
        "FLD-054 what a stranger has put in the place of FILE.part or of its record is refused, and stays as it is",
        .enabled(if: geteuid() == 0, "another user can be played by root alone"),
        arguments: ["file.part", "file.part.resume"])
    func strangersPart(_ name: String) async throws {
        let lab = try await GetLab()
        #expect(chmod(lab.folder, 0o1777) == 0)
        try lab.write([1, 2, 3], name)
        #expect(chown("\(lab.folder)/\(name)", 65534, 65534) == 0)
        for options in [[], ["--resume"]] {
            let end = try await lab.shell(
                "exec \"$@\"", [lab.origin.url("/range/1000"), "-o", "file"] + options)
            #expect(
                end.code == 74 && end.errors.contains("\(name) belongs to another user; remove it"),
                "\(end.errors)")
        }
        #expect(lab.content(name) == [1, 2, 3])
        #expect(lab.content("file") == nil)
    }

    @Test("FLD-054 a part that has another name as well is refused")
    func linkedPart() async throws {
        let lab = try await GetLab()
        try lab.write([1, 2, 3], "precious")
        #expect(link("\(lab.folder)/precious", "\(lab.folder)/file.part") == 0)
        let end = try await lab.get(lab.origin.url("/range/1000"), "-o", "file")
        #expect(end.code == 74 && end.errors.contains("file.part has another name as well"), "\(end.errors)")
        #expect(lab.content("precious") == [1, 2, 3])
    }

    @Test(
        "root replaces nothing that a stranger's link in a folder for all users leads to",
        .enabled(if: geteuid() == 0, "another user can be played by root alone"))
    func strangersLink() async throws {
        let lab = try await GetLab()
        try lab.write([1], "real")
        let folder = "\(lab.folder)/everybody"
        #expect(mkdir(folder, 0o755) == 0 && chmod(folder, 0o1777) == 0)
        for (name, owner) in [("strangers", 65534), ("own", 0)] as [(String, uid_t)] {
            #expect(symlink("../real", "\(folder)/\(name)") == 0)
            #expect(lchown("\(folder)/\(name)", owner, 0) == 0)
        }
        let refused = try await lab.get(lab.origin.url("/bytes/10"), "-o", "everybody/strangers")
        #expect(
            refused.code == 74 && refused.errors.contains("everybody/strangers is a link"),
            "\(refused.errors)")
        #expect(lab.content("real") == [1])
        #expect(try await lab.get(lab.origin.url("/bytes/10"), "-o", "everybody/own").code == 0)
        #expect(lab.content("real")?.count == 10)
    }

    @Test("a full disk: a part that can be resumed is stored, and resumed once there is space")
    func goingOn() async throws {
        let lab = try await GetLab()
        let url = lab.origin.url("/range/1500000")
        let end = try await onSmallDisk(
            lab, [url, "-o", "new", "--resume"],
            #""$@"; test $? = 74 && test -s new.part && test -s new.part.resume && mount -o remount,size=4m . && "$@""#
        )
        #expect(end.code == 0, "\(end.errors)")
        #expect(end.errors.contains(" new\n"), "\(end.errors)")
        #expect(!end.errors.contains("new.part.resume\n"))
        #expect(end.errors.hasSuffix("good\n"))
    }

    @Test("a full disk before the first byte, and one that is read only")
    func fullBefore() async throws {
        let lab = try await GetLab()
        let url = lab.origin.url("/bytes/1000000")
        let filled = try await onSmallDisk(
            lab, [url, "-o", "old"], #"dd if=/dev/zero of=ballast bs=1024 2>/dev/null; "$@""#)
        #expect(filled.code == 74)
        #expect(filled.errors.contains("No space left on device"), "\(filled.errors)")
        #expect(filled.errors.hasSuffix("good\n"))
        let readOnly = try await onSmallDisk(lab, [url, "-o", "old"], #"mount -o remount,ro . && "$@""#)
        #expect(readOnly.code == 74)
        #expect(readOnly.errors.contains("Read-only file system"), "\(readOnly.errors)")
        #expect(readOnly.errors.hasSuffix("good\n"))
    }

    @Test("FLD-032 content for a closed standard output is 74, for a reader that left it is not")
    func closedOutput() async throws {
        let lab = try await GetLab()
        let url = lab.origin.url("/bytes/300000")
        for options in [[], ["-o", "/dev/stdout"]] {
            let closed = try await lab.shell("exec \"$@\" >&-", [url] + options)
            #expect(closed.code == 74, "\(closed.errors)")
        }
        let left = try await lab.shell("{ \"$@\"; echo $? >code; } | head -c 10", [url, "-q"])
        #expect(left.output.count == 10)
        #expect(lab.content("code") == Array("0\n".utf8))
    }

    @Test("a destination without a directory, and an upload whose file is missing or vanishes")
    func missing() async throws {
        let lab = try await GetLab()
        let nowhere = try await lab.get(lab.origin.url("/bytes/10"), "-o", "no/such/file")
        #expect(nowhere.code == 74)
        #expect(nowhere.errors.contains("no/such/file"), "\(nowhere.errors)")
        let upload = try await lab.get(lab.origin.url("/upload"), "-d", "@gone")
        #expect(upload.code == 74)
        #expect(upload.errors == "reach: gone: No such file or directory\n")
    }
}
