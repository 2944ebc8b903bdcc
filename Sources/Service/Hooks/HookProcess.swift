// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
import ReachabilityCore
import ServiceCore

/// The result of a hook.
enum HookEnd: Equatable {
    case exited(Int32)
    case killed(signal: Int32)
    /// It did not end in time and was killed.
    case timedOut
    /// Another part of the process has reaped it (`SIGCHLD` ignored, wait(2)).
    case unknown
}

/// A running hook: a process group of its own, waited for by descriptor, with its output in a pipe.
final class HookProcess {
    private let reactor: Reactor
    private let process: pid_t
    private let watch: OwnedDescriptor?
    /// The process's pidfd; negative without one.
    private let watched: Int32
    private let output: HookOutput
    private var timer: TimerID?
    private var isTimedOut = false
    private var ended: ((HookEnd) -> Void)?

    /// The time between SIGTERM and SIGKILL.
    static let patience: Int64 = 2_000_000_000
    // The polling interval without pidfd_open(2), before Linux 5.3.
    private static let pollInterval: Int64 = 50_000_000

    /// Starts the program in its `directory`; `line` gets each line of output, and `ended` is called once.
    init(
        _ name: String, in directory: Int32, _ input: HookInput, limit: Int, timeout: Duration,
        reactor: Reactor, line: @escaping (String) -> Void, ended: @escaping (HookEnd) -> Void
    ) throws(ReactorError) {
        self.reactor = reactor
        self.ended = ended
        var ends: [Int32] = [-1, -1]
        guard clinux_pipe(&ends) == 0 else { throw ReactorError("pipe", errno: errno) }
        let writing = OwnedDescriptor(adopting: ends[1])
        output = try HookOutput(OwnedDescriptor(adopting: ends[0]), limit: limit, line: line)
        process = try Self.spawn(name, in: directory, input, output: writing.number)
        watched = clinux_pidfd_open(process)
        watch = watched >= 0 ? OwnedDescriptor(adopting: watched) : nil
        output.begin(reactor)
        timer = reactor.schedule(at: Reactor.now + timeout.inNanoseconds) { [self] in
            isTimedOut = true
            terminate(patience: Self.patience)
        }
        // Polled where the loop cannot watch it: the program runs already.
        let isWatched =
            watched >= 0
            && (try? reactor.watch(watched, for: .readable, retrying: true) { [self] in
                if $0.contains(.refused) { poll() } else { reap() }
            }) != nil
        if !isWatched { poll() }
    }

    private func poll() {
        _ = reactor.schedule(at: Reactor.now + Self.pollInterval) { [self] in
            var info = siginfo_t()
            // Without reaping: the process ID stays reserved until then.
            let answer = waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT)
            let isRunning = answer == 0 ? info.si_signo != SIGCHLD : errno != ECHILD
            if isRunning { poll() } else { reap() }
        }
    }

    /// Sends SIGTERM to its process group, and SIGKILL a while later.
    func terminate(patience: Int64) {
        kill(-process, SIGTERM)
        // A stopped process (SIGSTOP) handles SIGTERM only after SIGCONT.
        kill(-process, SIGCONT)
        if let timer { reactor.cancel(timer) }
        timer = reactor.schedule(at: Reactor.now + patience) { [self] in kill(-process, SIGKILL) }
    }

    private func reap() {
        guard let ended else { return }
        self.ended = nil
        if let timer { reactor.cancel(timer) }
        if watched >= 0 { reactor.unwatch(watched) }
        // Before the process ID is free for another process: kills the rest of the group.
        if isTimedOut { kill(-process, SIGKILL) }
        var word: Int32 = 0
        // It has ended, so there is nothing to wait for.
        let isReaped = waitpid(process, &word, WNOHANG) == process
        output.finish(reactor)
        guard isReaped || isTimedOut else { return ended(.unknown) }
        let signal = word & 0x7f
        ended(isTimedOut ? .timedOut : signal == 0 ? .exited((word >> 8) & 0xff) : .killed(signal: signal))
    }

    private static func spawn(
        _ name: String, in directory: Int32, _ input: HookInput, output: Int32
    ) throws(ReactorError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
        clinux_spawn_in_directory(&actions, directory)

        // The loop's thread blocks all signals and the service ignores SIGPIPE; a program would inherit both.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

        let program = "./\(name)"
        var variables = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
        for (name, value) in input.environment { variables.append(name + "=" + value) }
        let arguments: [String] = [program] + input.arguments
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        words.append(nil)
        var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) }
        environment.append(nil)
        defer { for word in words + environment { free(word) } }
        var process = pid_t()
        let failure = posix_spawn(&process, program, &actions, &attributes, &words, &environment)
        guard failure == 0 else { throw ReactorError("starting it", errno: failure) }
        return process
    }
}
