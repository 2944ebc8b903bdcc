// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachTesting
import Synchronization
import Testing

@testable import device

/// A device and its server, without either.
@Suite struct DeviceTests {
    /// What a server sees and answers.
    private final class Server: Sendable {
        let seen = Mutex<[String]>([])
        let network = ScriptedNetwork(.wired)
        let content = Data(count: 200_000)
        let sha256: String

        /// - Parameter sha256: of the firmware, as the server says.
        init(sha256: String = "") {
            self.sha256 = sha256
        }

        func answer(_ request: SentRequest) throws -> Answer {
            let line = "\(request.method.rawValue) \(request.path) \(request.value(forHeader: "Range") ?? "")"
            seen.withLock { $0.append(line.hasSuffix(" ") ? String(line.dropLast()) : line) }
            if request.path == "/v1/token" {
                #expect(request.form["refresh_token"] == "r1")
                return .json(Token(access: "a2", refresh: "r2", expires: .distantFuture))
            }
            guard request.value(forHeader: "Authorization") == "Bearer a2" else { return .status(401) }
            #expect(request.value(forHeader: "X-Device") == "7")
            switch request.path {
            case "/v1/firmware":
                return .json([Device.Firmware(address: "files/2", sha256: sha256)])
            case "/v1/files/2":
                let file = Answer.file(content, etag: "2")
                guard request.value(forHeader: "Range") == nil else { return file }
                network.become(.wifi)
                return file.losingPath(after: 150_000)
            default: return .status(201)
            }
        }

        func device(access: String = "a2") throws -> Device {
            Device(
                "7",
                api: try HTTPSessionManager(baseURL: "https://api.example.com/v1", network: network) {
                    try self.answer($0)
                },
                login: try HTTPSessionManager(baseURL: "https://api.example.com/v1", network: network) {
                    try self.answer($0)
                },
                token: Token(access: access, refresh: "r1", expires: .distantFuture))
        }
    }

    @Test func samplesArriveInOrderWithATokenThatIsRenewedOnce() async throws {
        let server = Server()
        let device = try server.device(access: "a1")
        for value in [1.0, 2, 3] { try await device.report(Device.Sample(takenAt: Date(), value: value)) }
        #expect(
            server.seen.withLock { $0 } == [
                "POST /v1/samples", "POST /v1/token", "POST /v1/samples", "POST /v1/samples",
                "POST /v1/samples",
            ])
    }

    @Test func aSampleWaitsForTheNetwork() async throws {
        let server = Server()
        server.network.become(.unreachable)
        let device = try server.device()
        async let reported: Void = device.report(Device.Sample(takenAt: Date(), value: 1))
        server.network.become(.wifi)
        try await reported
        #expect(server.seen.withLock { $0 } == ["POST /v1/samples"])
    }

    @Test func firmwareContinuesOnTheNextNetwork() async throws {
        let server = Server(sha256: Self.sha256)
        let path = "\(FileManager.default.temporaryDirectory.path)/device-\(UInt64.random(in: 0 ... .max))"
        #expect(try await server.device().update(path, version: "1"))
        #expect(try Data(contentsOf: URL(filePath: path)) == server.content)
        #expect(server.seen.withLock { $0 }.last == "GET /v1/files/2 bytes=150000-")
        try FileManager.default.removeItem(atPath: path)
    }

    @Test func otherFirmwareIsRefused() async throws {
        let server = Server(sha256: String(repeating: "0", count: 64))
        let path = "\(FileManager.default.temporaryDirectory.path)/device-\(UInt64.random(in: 0 ... .max))"
        let error = await #expect(throws: SessionError.self) {
            _ = try await server.device().update(path, version: "1")
        }
        #expect(error?.code == .checksumMismatch)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(!FileManager.default.fileExists(atPath: "\(path).resume"))
    }

    /// Of 200,000 zeros.
    private static let sha256 = "4cbbd9be0cba685835755f827758705db5a413c5494c34262cd25946a73e7582"
}
