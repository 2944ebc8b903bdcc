// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SessionManager

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
