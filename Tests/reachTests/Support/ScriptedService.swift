// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// A service that answers calls from a list, and a command that asks it.
enum ScriptedService {
    /// Answers call after call, the last answer again; `null` closes the connection without one.
    ///
    /// Runs the command with its socket in REACH_SOCKET, prints the parameters of each call, and ends as the
    /// command.
    private static let program = """
        import json, os, socket, subprocess, sys, threading
        path, answers, command = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen()
        calls = []
        def serve():
            while True:
                client, _ = server.accept()
                call = b""
                while not call.endswith(b"\\0"):
                    piece = client.recv(65536)
                    if not piece: break
                    call += piece
                if call:
                    calls.append(json.loads(call[:-1])["parameters"])
                    answer = answers[min(len(calls), len(answers)) - 1]
                    if answer and "idempotencyKey" in answer["parameters"]:
                        answer["parameters"]["idempotencyKey"] = calls[-1]["idempotencyKey"]
                    if answer: client.sendall(json.dumps(answer).encode() + b"\\0")
                client.close()
        threading.Thread(target=serve, daemon=True).start()
        end = subprocess.run(command, env=dict(os.environ, REACH_SOCKET=path))
        for call in calls: print(json.dumps(call, sort_keys=True))
        sys.exit(end.returncode)
        """

    /// - Parameter answers: a list in JSON.
    static func run(
        _ command: [String], answers: String, socket: String, by origin: TestSupport.Origin
    ) async throws -> ProgramResult {
        try await origin.run(["/usr/bin/python3", "-c", program, socket, answers] + command)
    }
}
