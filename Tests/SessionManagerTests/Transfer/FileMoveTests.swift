// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Downloads whose destination lies on another file system than the one for temporary files.
@Suite(.enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct FileMoveTests {
    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    private func content(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path)))
    }

    @Test("what has no room at its destination is an error; what was there stays, and nothing besides")
    func full() async throws {
        let (lab, disk) = (try await Lab(), try await SmallDisk(bytes: 1 << 20))
        let old = "\(disk.path)/file"
        try Data("old".utf8).write(to: URL(filePath: old))
        await #expect {
            try await lab.manager.download(
                lab.request("/bytes/3000000"), to: DownloadDestination(old, replacesExisting: true))
        } throws: {
            guard let error = $0 as? SessionError else { return false }
            return error.code == .cannotWriteToFile && error.message.contains("No space left on device")
        }
        #expect(try content(old) == Array("old".utf8))
        #expect(try names(disk.path) == ["file"])
    }

    @Test("what has room arrives wholly, unless something is there already")
    func whole() async throws {
        let (lab, disk) = (try await Lab(), try await SmallDisk(bytes: 1 << 20))
        let path = "\(disk.path)/file"
        let request = try lab.request("/bytes/500000")
        _ = try await lab.manager.download(request, to: DownloadDestination(path))
        #expect(try content(path) == OriginContent.bytes(0..<500_000))
        await #expect {
            try await lab.manager.download(lab.request("/bytes/10"), to: DownloadDestination(path))
        } throws: {
            ($0 as? SessionError)?.code == .cannotMoveFile
        }
        #expect(try content(path).count == 500_000)
        #expect(try names(disk.path) == ["file"])
    }

    @Test("every way to copy copies all, or says why not", arguments: FileCopy.Way.allCases)
    func ways(_ way: FileCopy.Way) async throws {
        let (folder, disk) = (try ScratchFolder(), try await SmallDisk(bytes: 1 << 20))
        for count in [0, 1, 200_000] {
            let bytes = OriginContent.bytes(0..<count)
            try Data(bytes).write(to: URL(filePath: folder("\(count)")))
            try FileCopy.copy(folder("\(count)"), to: "\(disk.path)/\(count)", by: way)
            #expect(try content("\(disk.path)/\(count)") == bytes)
        }
        // Not its own, so it is neither written to nor removed.
        #expect { try FileCopy.copy(folder("1"), to: "\(disk.path)/200000", by: way) } throws: {
            ($0 as? SessionError)?.code == .cannotCreateFile
        }
        try Data(OriginContent.bytes(0..<3_000_000)).write(to: URL(filePath: folder("much")))
        #expect { try FileCopy.copy(folder("much"), to: "\(disk.path)/much", by: way) } throws: {
            ($0 as? SessionError)?.code == .cannotWriteToFile
        }
        #expect(try names(disk.path) == ["0", "1", "200000"])
        #expect(try content(folder("much")).count == 3_000_000)
    }
}
