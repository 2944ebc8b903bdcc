// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The meaning of a status that is no success (RFC 9110 §15).
struct GetStatus: Equatable {
    /// The program's exit code.
    var exitCode: ExitCode
    /// The explanation beside the status; may be empty.
    var explanation = ""

    /// - Parameter isConditional: Whether the request permits an answer without content (`If-None-Match` …).
    init(_ status: Int, isConditional: Bool = false, hasLocation: Bool = false) {
        switch status {
        case 304 where isConditional:
            exitCode = .refused
            explanation = "the server has nothing else than what the request names"
        case 304:
            exitCode = .serverError
            explanation =
                "the request names nothing that could be unmodified; the server, or a cache before it, is broken"
        case 300..<400:
            exitCode = .serverError
            explanation =
                hasLocation
                ? "this is no redirect that can be followed"
                : "the server does not say where to go (no Location)"
        case 400..<500: exitCode = .refused
        default: exitCode = .serverError
        }
    }
}
