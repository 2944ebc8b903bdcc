// SPDX-License-Identifier: Apache-2.0

/// The difference of a configuration that was read again: what applies at once, and what only at the next
/// start.
package struct ConfigurationChange: Sendable {
    /// The former configuration with all changes that apply at once.
    package let inForce: ServiceConfiguration
    /// The changed keys that apply at once, in the order of ``ServiceOption/all``.
    package let applied: [String]
    /// The changed keys that keep their former values.
    package let deferred: [String]

    package init(from old: ServiceConfiguration, to new: ServiceConfiguration) {
        var (inForce, applied, deferred) = (old, [String](), [String]())
        for option in ServiceOption.all {
            let value = option.value(new)
            guard value != option.value(old) else { continue }
            if option.isLive {
                option.set(&inForce, value)
                applied.append(option.key)
            } else {
                deferred.append(option.key)
            }
        }
        (self.inForce, self.applied, self.deferred) = (inForce, applied, deferred)
    }
}

extension ServiceOption {
    /// Whether a change applies when the configuration is read again (SIGHUP).
    ///
    /// Other options would need another socket, monitor or file.
    package var isLive: Bool { Self.liveTables.contains { key.hasPrefix($0) } || Self.liveKeys.contains(key) }

    private static let liveTables = ["probe.", "hooks.", "telemetry."]
    private static let liveKeys: Set = [
        "outbox.entries", "outbox.bytes", "outbox.body", "outbox.when-full", "metrics.file",
        "metrics.interval", "log.level", "log.changes",
    ]
}
