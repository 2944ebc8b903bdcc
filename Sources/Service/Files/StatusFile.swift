// SPDX-License-Identifier: Apache-2.0

package import EventLoop
import ReachabilityCore
package import ServiceCore

/// `status.json` in the runtime directory, the output of `reach status --json` for programs without a
/// socket; removed when the service ends.
package final class StatusFile: ServiceComponent {
    package let name = "status file"
    private let path: String
    private let files: Reactor
    private var writer: NewestWriter?
    private var context: ServiceContext?
    private var hook: HookID?
    private var watcher: PathWatcher?
    /// Since when the status holds, as written in the file.
    private var since: WallTime?

    package init(directory: String, files: Reactor) {
        path = directory + "/status.json"
        self.files = files
    }

    package func start(_ context: ServiceContext) throws(ServiceError) {
        let log = context.log
        writer = NewestWriter(path, loop: context.reactor, files: files) { [weak self] in
            log(.warning, "status file: \($0)")
            self?.watchFolder()
        }
        self.context = context
        hook = context.reactor.beforeWait { [weak self] in self?.followClock() }
    }

    /// Writes the file again after its directory was removed and made again.
    private func watchFolder() {
        guard watcher == nil, let context else { return }
        watcher = PathWatcher(folder: path.enclosingFolder, on: context.reactor) { [weak self] in
            guard let self else { return }
            watcher?.end()
            watcher = nil
            watchFolder()
            if let change = self.context?.current { statusChanged(change) }
        }
    }

    /// Writes the file again if the wall clock was set, which wakes the loop.
    private func followClock() {
        guard since != nil, let change = context?.current, change.since != since else { return }
        statusChanged(change)
    }

    package func internetChanged(_ change: CommittedChange) { statusChanged(change) }
    package func linksChanged(_ change: CommittedChange) { statusChanged(change) }

    package func statusChanged(_ change: CommittedChange) {
        since = change.since
        watchFolder()
        var line = TextLine()
        ReportJSON.write(change.state, to: &line)
        writer?.write(line.bytes)
    }

    package var stateLine: String? { writer.map { "\(path), \($0.skipped) changes left out" } }

    package func stop(_ done: @escaping () -> Void) {
        if let hook { context?.reactor.removeHook(hook) }
        watcher?.end()
        watcher = nil
        context = nil
        guard let writer else { return done() }
        writer.remove(done)
    }
}
