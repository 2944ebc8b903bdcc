// SPDX-License-Identifier: Apache-2.0

/// What a program that is started gets: its arguments and variables.
package struct HookInput: Sendable, Equatable {
    /// The arguments behind the program's name.
    package var arguments: [String]
    /// The variables beside `PATH`.
    package var environment: [(name: String, value: String)]

    package init(arguments: [String], environment: [(name: String, value: String)]) {
        (self.arguments, self.environment) = (arguments, environment)
    }

    package static func == (left: HookInput, right: HookInput) -> Bool {
        left.arguments == right.arguments && left.environment.elementsEqual(right.environment, by: ==)
    }
}

extension HookEvent {
    /// What a hook gets of this event.
    package var input: HookInput { HookInput(arguments: [word, interface], environment: environment) }
}

/// The hooks' event `fetched`: a file that the outbox was to fetch is in its place, or was given up.
package struct FetchedEvent: Sendable, Equatable {
    /// What became of it.
    package enum Outcome: String, Sendable {
        /// The file is in its place, whole, and on the disk.
        case fetched
        /// It was given up; there is no new file.
        case dead
    }

    package var outcome: Outcome
    /// The number of its request.
    package var request: String
    package var path: String
    /// Without user and password.
    package var url: String
    /// What the file was wanted with; empty without one.
    package var sha256: String
    package var bytes: Int64
    /// Why it was given up.
    package var reason: String

    package init(
        _ outcome: Outcome, request: String, path: String, url: String, sha256: String = "",
        bytes: Int64 = 0, reason: String = ""
    ) {
        (self.outcome, self.request, self.path, self.url) = (outcome, request, path, url)
        (self.sha256, self.bytes, self.reason) = (sha256, bytes, reason)
    }

    /// The arguments are `fetched` and the path.
    package var input: HookInput {
        HookInput(
            arguments: ["fetched", path],
            environment: [
                ("REACH_EVENT", "fetched"), ("REACH_FETCH_OUTCOME", outcome.rawValue),
                ("REACH_FETCH_REQUEST", request), ("REACH_FETCH_PATH", path),
                // A server has a part in these, and a hook may print them.
                ("REACH_FETCH_URL", SafeText.clean(url, unicode: true)), ("REACH_FETCH_CHECKSUM", sha256),
                ("REACH_FETCH_BYTES", outcome == .fetched ? "\(bytes)" : ""),
                ("REACH_FETCH_REASON", SafeText.clean(reason, unicode: true)),
            ])
    }
}
