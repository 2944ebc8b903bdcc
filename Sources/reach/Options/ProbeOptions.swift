// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Reachability
import SessionManager

/// The server that the internet probe requests; without it nothing is sent.
struct ProbeOptions: ParsableArguments {
    @Option(
        name: .customLong("probe"),
        help: ArgumentHelp(
            "Ask this server of yours whether there is internet behind the path.", valueName: "url"),
        transform: Value.url)
    var url: URL?

    @OptionGroup var answer: ExpectationOptions

    func validate() throws {
        if url == nil, answer.expectation != nil {
            throw ValidationError("--probe-status and --probe-body need --probe.")
        }
    }

    /// The probe; nil without one.
    var configuration: InternetProbeConfiguration? {
        url.map {
            InternetProbeConfiguration($0, expectation: answer.expectation ?? InternetExpectation())
        }
    }

    /// Makes the probe behind the paths of `manager`; nil without one.
    ///
    /// Prints the reason and throws the exit code where that is impossible.
    func make(
        _ manager: ReachabilityManager, longestPause: Duration? = nil
    ) throws(ExitCode) -> InternetProbe? {
        guard var configuration else { return nil }
        if let longestPause { configuration.longestPause = longestPause }
        do throws(SessionError) { return try InternetProbe(configuration, provider: manager) } catch {
            complain(error.description)
            throw .unavailable
        }
    }
}

/// The distinctive answer of a server.
struct ExpectationOptions: ParsableArguments {
    @Option(
        name: .customLong("probe-status"),
        help: ArgumentHelp("The status it answers with. (default: 200 to 299)", valueName: "code"),
        transform: Value.status)
    var status: Int?

    @Option(
        name: .customLong("probe-body"),
        help: ArgumentHelp("What the content of its answer begins with.", valueName: "text"))
    var body: String?

    /// Nil without such an option.
    var expectation: InternetExpectation? {
        guard status != nil || body != nil else { return nil }
        return InternetExpectation(statusCodes: status.map { [$0...$0] } ?? .successful, body: body)
    }
}

extension Value {
    /// A status code (RFC 9110 §15).
    static func status(_ text: String) throws -> Int {
        guard let code = Int(text), (100...599).contains(code) else {
            throw ValidationError("give a status from 100 to 599, for example 204.")
        }
        return code
    }
}
