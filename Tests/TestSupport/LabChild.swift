// SPDX-License-Identifier: Apache-2.0

import CLinux
import CTestSupport
import EventLoop
import Glibc

/// How a program ended.
package enum ExitStatus: Sendable, Hashable {
    case exited(Int32)
    case killed(signal: Int32)

    /// The status word of wait(2).
    init(_ word: Int32) {
        self = word & 0x7f == 0 ? .exited((word >> 8) & 0xff) : .killed(signal: word & 0x7f)
    }
}

/// A child process, in the namespaces of the thread that spawns it, which is waited for by descriptor.
final class LabChild: Sendable {
    /// Readable when the child has ended (pidfd_open(2)).
    let descriptor: OwnedDescriptor
    private let process: pid_t

    /// Spawns a program with these descriptors as standard input, output and error.
    ///
    /// Programs without a slash are searched for in `PATH` and in the folders of system tools, which the
    /// `PATH` of ordinary users often lacks.
    init(_ arguments: [String], input: Int32, output: Int32, errors: Int32) throws(LabError) {
        guard let program = arguments.first, let path = Self.find(program) else {
            throw LabError("\(arguments.first ?? "an empty command"): no such program")
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        // A descriptor that other code opened without close-on-exec would stay open as long as the child
        // lives.
        clinux_spawn_closes_others(&actions)

        // The loop's thread blocks all signals; a child that inherited this would survive SIGTERM.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var process = pid_t()
        let failure = posix_spawn(&process, path, &actions, &attributes, words, environ)
        guard failure == 0 else { throw LabError("spawning \(path)", errno: failure) }
        self.process = process
        do {
            descriptor = try OwnedDescriptor("pidfd_open", clinux_pidfd_open(process))
        } catch {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
            throw LabError("\(error)")
        }
    }

    /// The memory it occupies (VmRSS, proc_pid_status(5)); nil once it has ended.
    var residentKiB: Int? {
        let status = open("/proc/\(process)/status", O_RDONLY | O_CLOEXEC)
        guard status >= 0 else { return nil }
        defer { close(status) }
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = read(status, &buffer, buffer.count)
        let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }

    /// Sends a signal; ignored after the end.
    func send(_ signal: Int32) { _ = clinux_pidfd_send_signal(descriptor.number, signal) }

    /// Waits for its end, once; returns at once if the descriptor is readable.
    func reap() -> ExitStatus {
        var word: Int32 = 0
        while waitpid(process, &word, 0) < 0, errno == EINTR {}
        return ExitStatus(word)
    }

    private static func find(_ program: String) -> String? {
        if program.contains("/") { return program }
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let directories = path.split(separator: ":") + ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
        return directories.lazy.map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }
}
