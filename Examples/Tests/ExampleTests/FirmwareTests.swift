// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachTesting
import Testing

@testable import ota

/// Firmware that has to arrive whole: without a server, a network, or a pause of two minutes.
@Suite struct FirmwareTests {
    private let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    private let sum = "2abed8532d85add1b4bc8f69ffc031c7357ed6b69b47c68a7a1e2f7ae8c3f21f"
    private let clock = ManualClock()

    private func firmware(_ name: String, mirrors: [String] = []) -> Firmware {
        let path = "\(FileManager.default.temporaryDirectory.path)/\(name)-\(UInt64.random(in: 0 ... .max))"
        return Firmware(
            address: "https://updates.example.com/device.bin", sha256: sum, path: path, mirrors: mirrors,
            clock: clock)
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
        let firmware = firmware("firmware")
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
        let firmware = firmware("broken")
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
        let firmware = firmware("other")
        let error = await #expect(throws: SessionError.self) { try await firmware.fetch(with: manager) }
        #expect(error?.code == .checksumMismatch)
        #expect(!FileManager.default.fileExists(atPath: firmware.path))
    }

    @Test func asksTheMirror() async throws {
        let manager = URLSessionManager { [content] request in
            request.url.host() == "mirror.example.com" ? .file(content, etag: "7") : .status(503)
        }
        let firmware = firmware("mirrored", mirrors: ["https://mirror.example.com/device.bin"])
        try await firmware.fetch(with: manager)
        #expect(try Data(contentsOf: URL(filePath: firmware.path)) == content)
        try FileManager.default.removeItem(atPath: firmware.path)
    }
}
