// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// The input of a hook: the arguments `status wlan0`, and the rest in the environment.
package struct HookEvent: Sendable, Equatable {
    /// Whether the status changed; else the path alone did.
    package private(set) var isStatus: Bool
    /// The status that the hooks got before; nil for the first event.
    package private(set) var previous: ReachabilityStatus?
    package private(set) var change: CommittedChange
    /// How many changes came in between and were left out.
    package private(set) var skipped: Int

    /// - Parameter told: the status that the hooks got last; nil for none.
    package init(_ change: CommittedChange, told: ReachabilityStatus? = nil) {
        isStatus = told.map { $0 != change.status } ?? (change.event != .path)
        previous = told ?? change.previous
        self.change = change
        skipped = 0
    }

    /// A newer change takes the place of this one, which no hook has seen.
    ///
    /// Compares with the status that the hooks know: one that came and went is no change.
    package mutating func supersede(with newer: CommittedChange) {
        isStatus = previous.map { $0 != newer.status } ?? true
        change = newer
        skipped += 1
    }

    /// The first argument.
    package var word: String { isStatus ? "status" : "path" }

    /// The second argument: the interface in use, or the one that the reason names; "none" without any.
    package var interface: String { change.path.interface ?? change.reason.interface ?? "none" }

    /// The variables, all that a hook gets besides `PATH`.
    package var environment: [(name: String, value: String)] {
        let path = change.path
        return [
            ("REACH_EVENT", word),
            ("REACH_STATUS", change.status.description),
            ("REACH_PREVIOUS", previous?.description ?? ""),
            ("REACH_ONLINE", path.isOnline ? "1" : "0"),
            ("REACH_INTERFACE", path.interface ?? ""),
            ("REACH_MEDIUM", path.medium?.rawValue ?? ""),
            ("REACH_SOURCE", path.source?.description ?? ""),
            ("REACH_GATEWAY", path.gateway?.description ?? ""),
            ("REACH_SSID", Self.clean(path.ssid ?? "")),
            ("REACH_EXPENSIVE", path.isExpensive ? "1" : "0"),
            ("REACH_ALTERNATIVE", path.alternative ?? ""),
            ("REACH_GENERATION", "\(path.generation)"),
            ("REACH_REASON", Self.clean(path.reason.sentence)),
            ("REACH_REASON_CODE", path.reason.code.rawValue),
            ("REACH_SKIPPED", "\(skipped)"),
        ]
    }

    // The name of a network is not trusted, and a hook may print it.
    private static func clean(_ text: String) -> String { SafeText.clean(text, unicode: true) }
}
