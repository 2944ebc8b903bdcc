// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport

/// nginx before the server, which speaks no HTTP/2 itself.
///
/// One process, so that ending it leaves none of its workers behind.
enum SoakProxy {
    /// What it has told of the requests for one transfer.
    static func lines(about key: Int, _ folder: ScratchFolder) -> [String] {
        guard let log = try? String(contentsOfFile: folder("server.proxy/error.log"), encoding: .utf8) else {
            return []
        }
        return log.split(separator: "\n").filter { $0.contains("key=\(key)&") }.map(String.init)
    }

    static func start(_ namespace: NetworkNamespace, _ folder: ScratchFolder) async throws -> RunningProgram {
        let path = folder("server.proxy")
        let configuration = """
            daemon off; master_process off; user root; pid \(path)/pid; error_log \(path)/error.log info;
            events {}
            http {
              access_log off; client_max_body_size 0;
              client_body_temp_path \(path)/t1; proxy_temp_path \(path)/t2; fastcgi_temp_path \(path)/t3;
              uwsgi_temp_path \(path)/t4; scgi_temp_path \(path)/t5;
              server {
                listen 10.9.0.1:8444 ssl http2;
                ssl_certificate \(folder("server.pem")); ssl_certificate_key \(folder("server.key"));
                location / {
                  proxy_pass http://10.9.0.1:8080; proxy_http_version 1.1; proxy_set_header Connection "";
                  proxy_buffering off; proxy_request_buffering off; proxy_next_upstream off;
                }
              }
            }
            """
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data(configuration.utf8).write(to: URL(filePath: "\(path)/nginx.conf"))
        let program = try await namespace.start(["nginx", "-c", "\(path)/nginx.conf"])
        // tail(1) is told by the kernel when there is something; nginx writes it once it listens.
        try await namespace.run(
            "/bin/sh", "-c", "tail -c +1 -F \"$0\" 2>&- | head -c 1 >/dev/null", "\(path)/pid")
        return program
    }
}
