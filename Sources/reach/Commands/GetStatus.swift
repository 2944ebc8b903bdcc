// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// What a status means that is none of success (RFC 9110 §15).
struct GetStatus: Equatable {
    /// What the program ends with.
    var exitCode: ExitCode
    /// What there is to say besides the status itself; empty for nothing.
    var explanation = ""

    /// - Parameters:
    ///   - isConditional: Whether the request has asked for an answer without content (`If-None-Match` and its like).
    ///   - hasLocation: Whether the answer says where to go.
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
