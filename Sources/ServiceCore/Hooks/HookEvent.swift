// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
import SessionCore

/// The input of a hook: the arguments `status wlan0`, and further values in the environment.
package struct HookEvent: Sendable, Equatable {
    /// Whether the status changed; else only the path did.
    package private(set) var isStatus: Bool
    /// Whether only what is behind the uplinks changed, and neither status nor path.
    package private(set) var isInternet: Bool
    /// The status of the hooks' last event; nil for the first event.
    package private(set) var previous: ReachabilityStatus?
    package private(set) var change: CommittedChange
    /// The number of skipped changes before this one.
    package private(set) var skipped: Int

    /// - Parameter reported: the status of the hooks' last event; nil for none.
    package init(_ change: CommittedChange, reported: ReachabilityStatus? = nil) {
        isStatus = reported.map { $0 != change.status } ?? (change.event != .path && !change.isInternet)
        isInternet = change.isInternet
        previous = reported ?? change.previous
        self.change = change
        skipped = 0
    }

    /// Replaces this change, which no hook has got yet; a status that came and went is no change.
    package mutating func supersede(with newer: CommittedChange) {
        isStatus = previous.map { $0 != newer.status } ?? true
        isInternet = isInternet && newer.isInternet
        let changed = change.changedUplinks.filter { old in
            !newer.changedUplinks.contains { $0.interface == old.interface }
        }
        change = newer
        // An uplink that changed in a skipped change counts, with its newest state.
        change.changedUplinks += changed.compactMap { old in
            newer.uplinks.first { $0.interface == old.interface }
        }
        skipped += 1
    }

    /// The first argument.
    package var word: String { isStatus ? "status" : isInternet ? "internet" : "path" }

    /// The second argument: the interface in use, or the one in the reason; "none" without either.
    ///
    /// Of the event `internet` it is the uplink whose state has changed.
    package var interface: String {
        (isOfUplink ? uplink?.interface : nil) ?? change.path.interface ?? change.reason.interface ?? "none"
    }

    /// Whether only what is behind uplinks has changed.
    private var isOfUplink: Bool { isInternet && !isStatus }

    /// The uplink whose state has changed, the preferred one before others; nil where none has.
    ///
    /// Other events have one where a change of the internet was skipped before.
    private var uplink: UplinkInternet? {
        change.changedUplinks.first(where: \.isPreferred) ?? change.changedUplinks.first
            ?? (isOfUplink ? change.uplinks.first(where: \.isPreferred) : nil)
    }

    /// The variables of a hook, beside `PATH`.
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
            ("REACH_METERED", path.metered.rawValue),
            ("REACH_ROAMING", path.isRoaming ? "1" : "0"),
            ("REACH_CONSTRAINED", path.isConstrained ? "1" : "0"),
            ("REACH_ALTERNATIVE", path.alternative ?? ""),
            ("REACH_GENERATION", "\(path.generation)"),
            ("REACH_REASON", Self.clean(path.reason.sentence)),
            ("REACH_REASON_CODE", path.reason.code.rawValue),
            ("REACH_SKIPPED", "\(skipped)"),
            ("REACH_INTERNET", change.internetBehindPath?.rawValue ?? ""),
            ("REACH_PORTAL", Self.clean(change.portal ?? "")),
            ("REACH_UPLINK", uplink?.interface ?? ""),
            ("REACH_UPLINK_INTERNET", uplink?.state.rawValue ?? ""),
            ("REACH_UPLINK_REASON", Self.clean(uplink?.reason ?? "")),
            ("REACH_UPLINK_PORTAL", Self.clean(uplink?.portal ?? "")),
            ("REACH_INTERNET_SENTENCE", change.report.internetSentence ?? ""),
            ("REACH_UPLINKS", change.uplinks.map { "\($0.interface)=\($0.state)" }.joined(separator: " ")),
        ]
    }

    // A network's name is not trusted, and a hook may print it.
    private static func clean(_ text: String) -> String { SafeText.clean(text, unicode: true) }
}
