// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import Reachability
import SessionManager

extension ExitCode {
    /// Unreachable, or unknown.
    static let unreachable = ExitCode(1)
    /// The time limit came first.
    static let timedOut = ExitCode(2)
    /// No link has a carrier, so that waiting was given up.
    static let noCarrier = ExitCode(9)
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
    /// Prints a failure of standard output, for commands whose exit code reports something else.
    func record() { try? check() }

    /// Prints a failure and throws the exit code; a reader that has closed the pipe is no failure.
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

extension ExitCode {
    /// The server refuses the request, with a status such as 404.
    static let refused = ExitCode(4)
    /// The server's fault: a status such as 503, or no proper HTTP.
    static let serverError = ExitCode(5)
    /// No connection, or it broke.
    static let cannotConnect = ExitCode(6)
    /// TLS fails, or no pin fits.
    static let untrusted = ExitCode(7)
    /// The content has another checksum.
    static let wrongChecksum = ExitCode(8)
    /// A library is missing (EX_UNAVAILABLE, sysexits.h).
    static let unavailable = ExitCode(69)

    /// The exit code of a `reach get` that was answered with a status that is no success (RFC 9110 §15).
    ///
    /// - Parameter isConditional: Whether the request permits an answer without content (`If-None-Match` …).
    init(status: Int, isConditional: Bool) {
        self = (400..<500).contains(status) || status == 304 && isConditional ? .refused : .serverError
    }

    /// The exit code of a failed `reach get`.
    init(_ error: SessionError) {
        switch error.code {
        case .timedOut: self = .timedOut
        case .checksumMismatch: self = .wrongChecksum
        case .cancelled: self = .interrupted
        case .missingLibrary, .outOfResources: self = .unavailable
        case .invalidHeaderField, .invalidSecurityPolicy: self = .usage
        // An invalid URL on the command line; one that a server redirects to is the server's fault.
        case .badURL where error.response == nil: self = .usage
        // A proxy that makes no tunnel; over http it is the status of an answer.
        case .userAuthenticationRequired: self = .refused
        case .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .notConnectedToInternet:
            self = .cannotConnect
        case _ where error.isAboutFiles: self = .inputOutput
        case _ where (-1206...(-1200)).contains(error.code.rawValue): self = .untrusted
        // The rest is the server's fault: endless redirects, broken encodings, malformed HTTP.
        default: self = .serverError
        }
    }
}

extension SessionError {
    /// Whether a file of this machine is the reason.
    var isAboutFiles: Bool {
        switch code {
        case .fileDoesNotExist, .noPermissionsToReadFile, .badResumeRecord, .requestBodyStreamExhausted: true
        default: (-3005...(-3000)).contains(code.rawValue)
        }
    }
}
