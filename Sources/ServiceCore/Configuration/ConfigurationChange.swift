// SPDX-License-Identifier: Apache-2.0

/// What a configuration that was read again changes in a service that runs, and what has to wait for its next
/// start.
package struct ConfigurationChange: Sendable {
    /// The old one with what can change at once.
    package let inForce: ServiceConfiguration
    /// The keys that have changed, in the order of ``ServiceOption/all``.
    package let taken: [String]
    /// The keys that differ and stay as they were.
    package let held: [String]

    package init(from old: ServiceConfiguration, to new: ServiceConfiguration) {
        var (inForce, taken, held) = (old, [String](), [String]())
        for option in ServiceOption.all {
            let value = option.value(new)
            guard value != option.value(old) else { continue }
            if option.isLive {
                option.set(&inForce, value)
                taken.append(option.key)
            } else {
                held.append(option.key)
            }
        }
        (self.inForce, self.taken, self.held) = (inForce, taken, held)
    }
}

extension ServiceOption {
    /// Whether a change is in force once the configuration was read again (SIGHUP).
    ///
    /// Others would need another socket, another monitor or another file than the one at work.
    package var isLive: Bool {
        Self.liveTables.contains { key.hasPrefix($0) } || Self.liveKeys.contains(key)
    }

    private static let liveTables = ["probe.", "hooks."]
    private static let liveKeys: Set = [
        "outbox.entries", "outbox.bytes", "outbox.body", "outbox.when-full", "metrics.file",
        "metrics.interval",
        "log.level", "log.changes",
    ]
}
