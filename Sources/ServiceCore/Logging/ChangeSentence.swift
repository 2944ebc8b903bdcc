// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
package import SessionCore

/// The log's line about a committed change.
package enum ChangeSentence {
    /// "status wired on eth0, was unreachable for 12 s: default route via 192.0.2.1 on eth0".
    ///
    /// - Parameter before: how long the former status lasted; nil if unknown.
    package static func text(_ change: CommittedChange, before: Duration? = nil) -> String {
        let path = change.path
        let link = path.interface.map { " on \($0)" } ?? ""
        let head: String
        switch change.event {
        case .initial: head = "status \(change.status)\(link)"
        case .status:
            let length = before.map { " for \(DurationText.people($0))" } ?? ""
            head =
                "status \(change.status)\(link), was \(change.previous?.description ?? "unknown")\(length)"
        case .path:
            head = "path \(path.isOnline ? "online" : "offline")\(link), status still \(change.status)"
        }
        return SafeText.clean(
            "\(head): \(path.reason.sentence) (generation \(path.generation))", unicode: true)
    }

    /// "internet full: the server answers", and "internet on wwan0 limited: no answer in 10 s" for each other
    /// uplink whose state has changed.
    package static func internet(_ change: CommittedChange, after former: InternetState?) -> [String] {
        guard let internet = change.internetBehindPath else { return [] }
        let preferred = change.uplinks.first(where: \.isPreferred)
        var lines: [String] = []
        if internet != former {
            var line = "internet \(internet): \(internet.explanation)"
            if let preferred, !preferred.reason.isEmpty {
                line += " (\(preferred.reason) on \(preferred.interface))"
            }
            lines.append(line)
        }
        for uplink in change.changedUplinks where uplink.interface != preferred?.interface {
            let reason = uplink.reason.isEmpty ? uplink.state.explanation : uplink.reason
            lines.append("internet on \(uplink.interface) \(uplink.state): \(reason)")
        }
        return lines.map { SafeText.clean($0, unicode: true) }
    }

    /// The priority: a loss is more urgent.
    package static func priority(_ change: CommittedChange) -> LogPriority {
        switch change.event {
        case .path: .info
        case .initial, .status: change.status.isReachable ? .notice : .warning
        }
    }
}

/// The state in one sentence, for `systemctl status` and the log.
package struct StatusSentence: Sendable, CustomStringConvertible {
    package let description: String

    package init(_ change: CommittedChange) { self.init(status: change.status, path: change.path) }

    package init(status: ReachabilityStatus, path: ReachabilityPath) {
        var words = status.description
        if let interface = path.interface, path.isOnline { words += " through \(interface)" }
        if status.isReachable, !path.isOnline { words += ", but lost at this instant" }
        // Names of interfaces and networks are untrusted.
        description = SafeText.clean("\(words): \(path.reason.sentence)", unicode: true)
    }
}
