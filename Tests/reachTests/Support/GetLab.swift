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
    /// Everything it writes is read: script(1) stops reading 10 ms after its program has ended, and a
    /// terminal that its last program closes ends before all of it was passed on (tty_flip_buffer_push(),
    /// drivers/tty/tty_buffer.c). So it stays open, and a mark is written behind the program's last byte.
    ///
    /// - Parameter kind: the value of `TERM`.
    func terminal(_ arguments: [String], kind: String = "xterm") async throws -> Result {
        let spawn = """
            import fcntl, os, pty, subprocess, sys, termios, threading
            # The terminal stays open here: closed by the program alone, it may lose what was written last.
            terminal, program = pty.openpty()
            def lead():
                os.setsid()
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            child = subprocess.Popen(sys.argv[1:], stdin=program, stdout=program, stderr=program, preexec_fn=lead)
            end, said = b"\\0end\\0", b""
            threading.Thread(target=lambda: (child.wait(), os.write(program, end))).start()
            while not said.endswith(end): said += os.read(terminal, 1024)
            os.write(1, said[:-len(end)])
            sys.exit(child.returncode)
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
