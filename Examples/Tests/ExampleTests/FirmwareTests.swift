// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachTesting
import Testing

@testable import ota

/// Firmware that has to arrive whole: without a server, a network, or a pause of two minutes.
@Suite(.serialized) struct FirmwareTests {  // sha256sum(1) gets its file by the environment
    private let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    private let clock = ManualClock()

    private func firmware(_ name: String, sha256: String) -> Firmware {
        let path = "\(FileManager.default.temporaryDirectory.path)/\(name)-\(UInt64.random(in: 0 ... .max))"
        return Firmware(
            address: "https://updates.example.com/device.bin", sha256: sha256, path: path, clock: clock)
    }

    private func sum(of content: Data) throws -> String {
        let path = "\(FileManager.default.temporaryDirectory.path)/sum-\(UInt64.random(in: 0 ... .max))"
        try content.write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try #require(checksum(of: path))
    }

    @Test func continuesOnTheNextNetwork() async throws {
        let network = ScriptedNetwork(.wired)
        let manager = URLSessionManager(network: network) { [content] request in
            let file = Answer.file(content, etag: "7")
            guard request.attempt == 1 else { return file }
            network.become(.wifi)
            return file.losingPath(after: 150_000)
        }
        let steps = manager.recordSteps()
        let firmware = firmware("firmware", sha256: try sum(of: content))
        try await firmware.fetch(with: manager)
        #expect(try Data(contentsOf: URL(filePath: firmware.path)) == content)
        let rest = try await steps.first(within: .seconds(30), "a request for the rest") {
            if case .sent(let request) = $0.step { request.headerFields[.range] != nil } else { false }
        }
        #expect("\(rest.step)" == "sent: GET updates.example.com/device.bin")
        try FileManager.default.removeItem(atPath: firmware.path)
    }

    @Test func triesAgainAfterAPause() async throws {
        let manager = URLSessionManager { [content] _ in .file(content, etag: "7").breaking(after: 1_000) }
        let firmware = firmware("broken", sha256: "")
        let fetching = Task { try await firmware.fetch(with: manager) }
        for pause in [1, 5, 30, 120, 300] {
            try await clock.waitForSleepers()
            await clock.advance(by: .seconds(pause))
        }
        let error = await #expect(throws: FirmwareError.self) { try await fetching.value }
        #expect(error?.description.contains("did not come in five tries") == true)
    }

    @Test func refusesOtherContent() async throws {
        let manager = URLSessionManager { _ in .file(Data("something else".utf8), etag: "1") }
        let firmware = firmware("other", sha256: try sum(of: content))
        let error = await #expect(throws: FirmwareError.self) { try await firmware.fetch(with: manager) }
        #expect(error?.description.hasSuffix("is not the firmware that was announced") == true)
        #expect(!FileManager.default.fileExists(atPath: firmware.path))
    }
}
