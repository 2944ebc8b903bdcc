// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport

/// A folder beside the origin, in which `reach get` runs.
final class GetLab: Sendable {
    let origin: Origin
    /// Removed with this object.
    let folder: String

    init() async throws {
        origin = try await Origin.shared
        var template = Array("\(TemporaryFolder.path)/reach-get-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw LabError("mkdtemp: \(errno)") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The result of a run.
    struct Result {
        var code: Int32
        var output: [UInt8]
        var errors: String
        var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// Runs `reach get` in the folder, without proxies.
    func get(_ arguments: String..., input: [UInt8] = []) async throws -> Result {
        try await shell("exec \"$@\"", arguments, input: input)
    }

    /// Runs a line of a shell with `reach get ARGUMENTS` as `"$@"`.
    func shell(_ line: String, _ arguments: [String], input: [UInt8] = []) async throws -> Result {
        let start = """
            unset http_proxy https_proxy HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY
            export LC_ALL=C.UTF-8; cd "$0" || exit 1;\u{20}
            """
        let command = ["/bin/sh", "-c", start + line, folder, BuiltProgram.reach, "get"] + arguments
        let end = try await origin.run(command, input: input)
        guard case .exited(let code) = end.status else { throw LabError("it was killed: \(end.status)") }
        return Result(code: code, output: end.output, errors: end.errors)
    }

    /// Runs `reach get` on a terminal of its own, which is its output, its errors and its `/dev/tty`.
    ///
    /// Everything it writes is read: script(1) stops reading 10 ms after its program has ended. A read that
    /// fails is repeated, because one that saw nothing and then the end has missed what came in between
    /// (n_tty_read(), drivers/tty/n_tty.c).
    ///
    /// - Parameter kind: the value of `TERM`.
    func terminal(_ arguments: [String], kind: String = "xterm") async throws -> Result {
        let spawn = """
            import os, pty, sys
            def read(terminal):
                try: return os.read(terminal, 1024)
                except OSError: return os.read(terminal, 1024)
            sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], read)))
            """
        return try await shell(
            "TERM=\(kind) exec /usr/bin/python3 -B -c '\(spawn)' \"$@\"", arguments)
    }

    /// The content of a file in the folder; nil if there is none.
    func content(_ name: String) -> [UInt8]? {
        (try? Data(contentsOf: URL(filePath: "\(folder)/\(name)"))).map { Array($0) }
    }

    func write(_ bytes: [UInt8], _ name: String) throws {
        try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
    }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }
}
