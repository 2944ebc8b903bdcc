// SPDX-License-Identifier: Apache-2.0

import EventLoop
package import ServiceCore

/// The configured parts of the service that handle changes.
package enum ServiceParts {
    /// Makes them in the order in which they get a change: the log first, hooks last.
    package static func make(
        _ configuration: ServiceConfiguration, version: String, sink: LogSink? = nil
    ) throws(ServiceError) -> [any ServiceComponent] {
        let files: Reactor
        do throws(ReactorError) { files = try Reactor(name: "reach-files") } catch {
            throw ServiceError("\(error)")
        }
        let counters = ServiceCounters()
        var parts: [any ServiceComponent] = [
            ChangeLogger(configuration.log, counters: counters, sink: sink)
        ]
        if configuration.history.isOn {
            parts.append(HistoryService(configuration.history, files: files, counters: counters))
        }
        if configuration.statusFile {
            parts.append(StatusFile(directory: configuration.statusDirectory, files: files))
        }
        parts.append(
            MetricsReporter(configuration.metrics, version: version, files: files, counters: counters))
        // Without a directory too: a configuration that is read again may name one, and a server to ask.
        parts.append(HookRunner(configuration.hooks, files: files, counters: counters))
        parts.append(InternetWatcher(configuration.probe))
        return parts
    }
}
