// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionManager

/// The code of the article about services of this machine.
enum Daemons {
    struct SystemInfo: Decodable, Sendable {
        struct Result: Decodable, Sendable { let version: String }
        let result: Result
    }

    static func snapdVersion() async throws -> String {
        let snapd = try HTTPSessionManager(baseURL: "http+unix://%2Frun%2Fsnapd.socket/v2")
        let info: SystemInfo = try await snapd.get("system-info")
        return info.result.version
    }

    static func followContainers() async throws {
        let docker = URLSessionManager(
            configuration: SessionConfiguration { $0.unixSocket = "/var/run/docker.sock" })
        let options = RequestOptions { $0.timeoutInterval = .zero }
        let request = try SessionRequest("http://localhost/events", options: options)
        let (_, events) = try await docker.stream(for: request)
        for try await chunk in events {
            print(String(decoding: chunk, as: UTF8.self))
        }
    }
}
