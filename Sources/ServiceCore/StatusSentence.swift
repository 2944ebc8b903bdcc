// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// How things are in one sentence: for `systemctl status` and the log.
package struct StatusSentence: Sendable, CustomStringConvertible {
    package let description: String

    package init(_ change: CommittedChange) { self.init(status: change.status, path: change.path) }

    package init(status: ReachabilityStatus, path: ReachabilityPath) {
        var words = status.description
        if let interface = path.interface, path.isOnline { words += " through \(interface)" }
        if status.isReachable, !path.isOnline { words += ", but lost at this instant" }
        // Names of interfaces and networks are others' choice.
        description = SafeText.clean("\(words): \(path.reason.sentence)", unicode: true)
    }
}
