// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import Reachability

extension ExitCode {
    /// Unreachable, or unknown.
    static let unreachable = ExitCode(1)
    /// The time limit came first.
    static let timedOut = ExitCode(2)
    /// The kernel, a container or a seccomp filter refuses netlink.
    static let cannotMonitor = ExitCode(3)
    /// Wrong usage (EX_USAGE, sysexits.h).
    static let usage = ExitCode(64)
    /// Reading or writing a file failed half-way (EX_IOERR, sysexits.h).
    static let inputOutput = ExitCode(74)
    /// SIGINT (128 + 2).
    static let interrupted = ExitCode(130)

    /// The exit code of `reach status`.
    init(_ status: ReachabilityStatus) { self = status.isReachable ? .success : .unreachable }
}

/// Prints a message on standard error.
func complain(_ sentence: String) {
    let style = Terminal(descriptor: StandardStream.error.descriptor).style(.never)
    StandardStream.error.write(style.sentence(sentence, after: "reach: ") + "\n")
}

/// Prints why the kernel cannot be asked; returns the exit code.
func complain(_ error: ReachabilityError) -> ExitCode {
    complain(error.description)
    return error.code == .invalidInput ? .usage : .cannotMonitor
}

/// Prints the limitations of the monitoring.
func complain(_ limitations: MonitorLimitations) {
    for sentence in limitations.sentences { complain("note: \(sentence)") }
}

extension StandardStream.Outcome {
    /// Prints a failure of standard output on standard error, for commands whose exit code reports something
    /// else.
    func record() {
        guard case .failed(let errno) = self else { return }
        complain("standard output: \(String(cString: strerror(errno)))")
    }

    /// If writing to standard output failed, prints the reason and throws the exit code.
    ///
    /// A reader that has closed the pipe is no failure.
    func check() throws(ExitCode) {
        guard case .failed(let errno) = self else { return }
        complain("standard output: \(String(cString: strerror(errno)))")
        throw .inputOutput
    }
}

/// Starts the monitoring; if the kernel cannot be asked at all, prints the reason and throws the exit code.
func beginMonitoring(_ manager: ReachabilityManager) throws(ExitCode) {
    manager.startMonitoring()
    let reason = manager.path.reason
    guard manager.status == .unknown, reason.code == .kernelRefused else { return }
    if let failure = manager.failure { throw complain(failure) }
    complain(reason.sentence)
    throw .cannotMonitor
}
