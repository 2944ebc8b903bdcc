// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc

/// A real HTTP server on loopback, with TLS in many variants and with faults: `Tests/Origin/README.md`.
///
/// A test process shares one; tests are independent of each other by `key=` in their URLs.
package final class Origin: Sendable {
    /// The process's message when it is ready.
    private struct Ready: Decodable {
        let folder: String
        let process: Int32
        let nginx: Int32
        let ports: [String: Int]
        let pins: [String: String]
        let ipv6: Bool
    }

    private static let starting = Task { try await Origin() }

    /// The origin of this test process; started by the first access.
    ///
    /// - Throws: if it does not start, with what is missing. Such tests are not skipped.
    package static var shared: Origin { get async throws { try await starting.value } }

    /// The folder with its certificates, keys and files.
    package var folder: String { ready.folder }
    /// The processes: the application, which removes the folder and ends nginx, and nginx.
    package var processes: [Int32] { [ready.process, ready.nginx] }
    /// Whether its ports answer on ::1 as well.
    package var hasIPv6: Bool { ready.ipv6 }
    private let ready: Ready
    private let channel: OriginChannel

    /// The command that starts one, which runs as long as its standard input is open.
    package static let command = [
        "/usr/bin/python3", "-B",
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Origin/origin",
    ]

    /// Starts another one; releasing this object ends it.
    package init() async throws {
        guard access(Self.command[0], X_OK) == 0 else {
            throw LabError(
                "\(Self.command[0]) is not there; packaging/bootstrap --tests installs what the tests need")
        }
        channel = try await OriginChannel(Self.command)
        let line = try await channel.ready(within: .seconds(60))
        ready = try JSONDecoder().decode(Ready.self, from: Data(line.utf8))
    }

    /// Ends it and waits for the end, after which its processes and folder are gone.
    package func stop() async -> ExitStatus? {
        channel.close()
        return await channel.end.wait(forCount: 1, within: .seconds(60)).first
    }

    /// The port of a listener, on 127.0.0.1 and mostly on ::1.
    package func port(_ listener: OriginListener) -> Int { ready.ports[listener.rawValue] ?? 0 }

    /// `sha256//…` of a certificate's public key.
    package func pin(_ certificate: OriginCertificate) -> String { ready.pins[certificate.rawValue] ?? "" }

    /// Runs a program beside the origin, `curl` for instance, and waits for its end.
    package func run(_ command: [String], input: [UInt8] = []) async throws -> ProgramResult {
        try await channel.reactor.run(command, input: input)
    }

    // MARK: - The record of requests

    private struct Answer: Decodable {
        let done: Bool
        let stats: OriginStatistics
    }

    private func ask(_ fields: String) async throws -> Answer {
        try JSONDecoder().decode(Answer.self, from: Data(try await channel.ask(fields).utf8))
    }

    /// How many requests with this key have arrived.
    package func count(_ key: String) async throws -> Int { try await statistics(key).count }

    /// The record of the requests with this key.
    package func statistics(_ key: String) async throws -> OriginStatistics {
        try await ask(#""do":"stats","key":"\#(key)""#).stats
    }

    /// Clears the record of a key.
    package func reset(_ key: String) async throws { _ = try await ask(#""do":"reset","key":"\#(key)""#) }

    /// Waits until the counters of a key are at least this high, or for `active` and `open` at most this
    /// high.
    ///
    /// - Throws: `LabError` with the counters at the time limit.
    @discardableResult
    package func wait(
        for key: String, _ wishes: [OriginCounter: Int], within limit: Duration = .seconds(60)
    ) async throws -> OriginStatistics {
        let until = wishes.map { "\"\($0.key.rawValue)\":\($0.value)" }.joined(separator: ",")
        let seconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) / 1e18
        let answer = try await ask(#""do":"wait","key":"\#(key)","until":{\#(until)},"seconds":\#(seconds)"#)
        guard answer.done else {
            throw LabError("not within \(limit): \(key) \(wishes); but \(answer.stats)")
        }
        return answer.stats
    }

    /// Opens the gate of this name for good, which ends the waits at `/hold/NAME` and with `gate=NAME`.
    package func release(_ gate: String) async throws {
        _ = try await ask(#""do":"release","gate":"\#(gate)""#)
    }
}
