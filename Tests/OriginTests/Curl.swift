// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Debian's curl as the client, so that the origin is tested by code outside this project.
struct Curl {
    let origin: Origin

    /// The result of a transfer.
    struct Transfer {
        /// curl's exit code; 0 is success (curl(1)).
        let code: Int32
        let body: [UInt8]
        /// curl's messages of a failure.
        let errors: String

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// Runs curl with these arguments; it trusts the root and knows where origin.test is.
    func callAsFunction(_ arguments: String..., input: [UInt8] = []) async throws -> Transfer {
        try await self(arguments: arguments, input: input)
    }

    /// The same with a list.
    func callAsFunction(arguments: [String], input: [UInt8] = []) async throws -> Transfer {
        let known = origin.resolveEntries.flatMap { ["--resolve", $0] }
        let command =
            ["curl", "-q", "-sS", "--max-time", "120", "--cacert", origin.pem(.root)] + known + arguments
        let result = try await origin.run(command, input: input)
        guard case .exited(let code) = result.status else { throw LabError("curl: \(result.status)") }
        return Transfer(code: code, body: result.output, errors: result.errors)
    }
}
