// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Many transfers on one connection, whose path dies.
@Suite(
    "HTTP/2 and paths",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct MultiplexedPathTests {
    /// nginx that is slow over the first path, and not over the second.
    private static func configuration(_ folder: String) -> String {
        """
        daemon off; user root; pid \(folder)/nginx.pid; error_log \(folder)/error.log; worker_processes 1;
        events {}
        http {
          log_format lines '$connection $remote_addr $server_protocol $status';
          access_log \(folder)/access.log lines;
          client_body_temp_path \(folder)/t1; proxy_temp_path \(folder)/t2; fastcgi_temp_path \(folder)/t3;
          uwsgi_temp_path \(folder)/t4; scgi_temp_path \(folder)/t5;
          map $remote_addr $pace { 10.2.0.2 0; default 48k; }
          server {
            listen 10.9.0.1:8443 ssl http2; root \(folder)/www; limit_rate $pace;
            ssl_certificate \(folder)/server.pem; ssl_certificate_key \(folder)/server.key;
          }
        }
        """
    }

    @Test("All streams of a dead connection go on by range, over one new connection")
    func streams() async throws {
        let paths = try await TwoPaths(isSecure: true)
        let folder = paths.folder
        try await paths.lab.far.run(
            "/bin/sh", "-c", "mkdir \"$0/www\" && head -c 1048576 /dev/urandom >\"$0/www/blob\"", folder)
        try Data(Self.configuration(folder).utf8).write(to: URL(filePath: "\(folder)/nginx.conf"))
        let nginx = try await paths.lab.far.start(["nginx", "-c", "\(folder)/nginx.conf"])
        defer { nginx.terminate() }
        // Written once it listens.
        try await paths.wait(for: "\(folder)/nginx.pid", bytes: 1)

        var configuration = SessionConfiguration()
        configuration.proxy = ""
        // One has to begin for the others to begin beside it.
        configuration.maximumConnectionsPerHost = 1
        var policy = SecurityPolicy.default
        policy.trustRoots = .only(.file("\(folder)/server.pem"))
        let manager = URLSessionManager(
            configuration: configuration, securityPolicy: policy, on: paths.lab.near.reactor)
        let request = try SessionRequest("https://10.9.0.1:8443/blob")
        let log = EventLog<Int>()
        let tasks = try (0..<4).map { number in
            var options = TaskOptions()
            options.downloadProgress = { if $0.completedBytes >= 16 << 10 { log.append(number) } }
            return try manager.downloadTask(with: request, options: options)
        }
        for task in tasks { task.resume() }
        await log.wait { Set($0).count == 4 }
        #expect(tasks.allSatisfy { $0.state == .running })
        try await paths.cut(.linkDown)

        let blob = try Data(contentsOf: URL(filePath: "\(folder)/www/blob"))
        for task in tasks {
            let outcome = await task.outcome()
            #expect(outcome.error == nil)
            #expect(outcome.response?.statusCode == 206)
            #expect(outcome.metrics.last?.version == .http2)
            let path = try #require(outcome.filePath)
            #expect(try Data(contentsOf: URL(filePath: path)) == blob)
        }
        nginx.terminate()
        _ = try await nginx.status()
        let lines = try String(
            decoding: Data(contentsOf: URL(filePath: "\(folder)/access.log")), as: UTF8.self
        )
        .split(separator: "\n").filter { $0.contains(TwoPaths.secondAddress) }
        #expect(lines.count == 4)
        #expect(Set(lines.map { $0.split(separator: " ")[0] }).count == 1)
        #expect(lines.allSatisfy { $0.hasSuffix("HTTP/2.0 206") })
    }
}
